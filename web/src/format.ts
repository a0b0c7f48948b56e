// Numbers, times and ages as people read them; UTC everywhere.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export function count(value: number | undefined | null): string {
  const known = value !== undefined && value !== null && Number.isFinite(value);
  return known ? whole.format(value) : "–";
}

export function percent(part: number, all: number): string {
  return all > 0 ? `${((100 * part) / all).toFixed(1)} %` : "–";
}

export function plural(value: number, one: string, many = one + "s"): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A span in its two largest units: 42 s, 3 min 20 s, 5 h 7 min, 2 d 4 h. */
export function span(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  if (!Number.isFinite(s)) return "–";
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${whole.format(Math.floor(s / 86400))} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** 2026-03-01 12:00:05 UTC; a dash for a time that has not come. */
export function utc(ms: number | undefined | null): string {
  if (!ms || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return "–";
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ") + " UTC";
}

export function clock(ms: number): string {
  return ms && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString().slice(11, 19) : "–";
}

export function bytes(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let left = value;
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024;
    unit++;
  }
  return `${left < 10 && unit ? left.toFixed(1) : Math.round(left)} ${units[unit]}`;
}
