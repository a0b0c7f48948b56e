/*
 * text: reading and writing what people and other programs see.
 *
 *   doc      one tree for YAML and JSON input, every node with its line and column
 *   json     streaming JSON writer
 *   csv      CSV reader and field writer
 *   amount   how many and how long, as people say it
 *   answer   what a verb has to say, as one tree; rendered as page, JSON, YAML or CSV
 *   kind     what a file looks like, for complaints about the wrong one
 *   table    aligned tables for people; the same rows as JSON, YAML or CSV for programs
 *   progress one line on stderr with rate and time left
 *   option   option tables: parsing, environment, help, man section and completion from one row
 *   svg      drawing by shapes
 *   chart    bars and curves as SVG
 *   page     one HTML page that needs nothing else
 *   qr       a short text as a code to scan
 *
 * Include this header; the parts under text/ are its chapters.
 */
#pragma once

#include "myriad/text/amount.h"
#include "myriad/text/answer.h"
#include "myriad/text/chart.h"
#include "myriad/text/csv.h"
#include "myriad/text/doc.h"
#include "myriad/text/json.h"
#include "myriad/text/kind.h"
#include "myriad/text/option.h"
#include "myriad/text/option_echo.h"
#include "myriad/text/page.h"
#include "myriad/text/progress.h"
#include "myriad/text/qr.h"
#include "myriad/text/svg.h"
#include "myriad/text/table.h"
