// The filter of the lists: words that must all fit. "state:drained leaf:3" looks at one column,
// a bare word at all of them; a leading minus turns a word round.

export type Fields = Record<string, string | number | readonly (string | number)[] | undefined>;

interface Term {
  key: string;
  value: string;
  not: boolean;
}

export function terms(text: string): Term[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const not = word.length > 1 && word.startsWith("-");
    const bare = not ? word.slice(1) : word;
    const colon = bare.indexOf(":");
    return colon > 0
      ? { key: bare.slice(0, colon), value: bare.slice(colon + 1), not }
      : { key: "", value: bare, not };
  });
}

function fits(value: Fields[string], wanted: string, whole: boolean): boolean {
  if (value === undefined) return false;
  if (typeof value === "object") return value.some((one) => fits(one, wanted, whole));
  const text = String(value).toLowerCase();
  // Numbers are equal or not: job:4 is not job 42.
  return whole && typeof value === "number" ? text === wanted : text.includes(wanted);
}

export function matches(fields: Fields, wanted: readonly Term[]): boolean {
  return wanted.every(({ key, value, not }) => {
    // A key that no column has is part of a name that holds a colon.
    const found = key && key in fields
      ? fits(fields[key], value, true)
      : Object.values(fields).some((one) => fits(one, key ? `${key}:${value}` : value, false));
    return found !== not;
  });
}
