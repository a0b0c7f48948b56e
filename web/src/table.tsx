// A table that sorts by its heads and shows many rows by and by.
import { signal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { count } from "./format";

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** What it sorts by; without it the column does not sort. */
  by?: (row: Row) => number | string;
  right?: boolean;
  /** Left out on narrow screens. */
  wide?: boolean;
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  id: (row: Row) => string | number;
  none: string;
}

const PAGE = 200;

interface Order {
  column: string;
  down: boolean;
}

function sorted<Row>(props: Props<Row>, order: Order): readonly Row[] {
  const by = props.columns.find((column) => column.name === order.column)?.by;
  if (!by) return props.rows;
  const sign = order.down ? -1 : 1;
  return [...props.rows].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    return sign * (typeof a === "number" && typeof b === "number"
      ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  });
}

function Head<Row>({ column, order }: { column: Column<Row>; order: Signal<Order> }) {
  const mine = order.value.column === column.name;
  const arrow = order.value.down ? "▾" : "▴";
  const sort = mine ? (order.value.down ? "descending" : "ascending") : "none";
  const press = () => {
    order.value = { column: column.name, down: mine && !order.value.down };
  };
  return (
    <th scope="col" class={classes(column)} aria-sort={column.by ? sort : undefined}>
      {column.by
        ? <button type="button" onClick={press}>
            {column.name}
            <span class="arrow" aria-hidden="true">{mine ? arrow : ""}</span>
          </button>
        : column.name}
    </th>
  );
}

function classes<Row>(column: Column<Row>): string {
  return `${column.right ? "right" : ""} ${column.wide ? "wide" : ""}`.trim();
}

export function Table<Row>(props: Props<Row>) {
  const order = useMemo(() => signal<Order>({ column: "", down: false }), []);
  const shown = useMemo(() => signal(PAGE), []);
  if (props.rows.length === 0) return <p class="empty">{props.none}</p>;
  const rows = sorted(props, order.value).slice(0, shown.value);
  const left = props.rows.length - rows.length;
  return (
    <div class="tablebox">
      <table aria-label={props.label} aria-rowcount={props.rows.length}>
        <thead>
          <tr>{props.columns.map((one) => <Head key={one.name} column={one} order={order} />)}</tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={props.id(row)}>
              {props.columns.map((one) => (
                <td key={one.name} class={classes(one)}>{one.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <button type="button" class="more" onClick={() => { shown.value += PAGE; }}>
          Show {count(Math.min(PAGE, left))} more of {count(left)}
        </button>
      )}
    </div>
  );
}
