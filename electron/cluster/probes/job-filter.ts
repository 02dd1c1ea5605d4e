/**
 * Filters job_stats on the server: only entries that changed, and a sum that shows whether any other entry did.
 *
 * A table of 10,000 jobs is megabytes, most of which do not change between two readings. A fixed awk program behind
 * `lctl get_param` keeps entries whose `snapshot_time` is later than a mark, and everything that is not an entry; for
 * every table it prints the number of entries and the sums of the seconds and of the nanoseconds of their times. The
 * reader (job-table.ts) merges the entries into its state and compares the sums. Entries without a time in ns (releases
 * before 2.15) are always printed.
 */
import { getParamCommand } from '#core/lustre/lctl.ts'
import type { ByteText } from '#core/lustre/text.ts'

/** Time of the server's clock, as entries print it. */
export interface Mark {
  readonly s: number
  readonly ns: number
}

/**
 * POSIX awk: mawk, gawk and busybox alike. `b` is the current entry, `k` whether it is kept, `p` the current table. No
 * single quote: it is one quoted word.
 */
const SCRIPT = [
  'function e(){if(b!=""){if(k){print b;q++}b=""}}',
  'function f(){e();if(p!=""){printf "%ssum=%.0f %.0f %.0f %.0f %.0f\\n",p,c,q,S,N,o;p=""}}',
  '/^- job_id:/{e();b=$0;k=1;c++;h=0;next}',
  'b!=""&&/^ /{b=b "\\n" $0;if(h==0&&$1=="snapshot_time:"){h=1;if(split($2,t,".")==2&&length(t[2])==9&&t[1]~/^[0-9]+$/&&t[2]~/^[0-9]+$/){S+=t[1];N+=t[2];k=(t[1]+0>s||(t[1]+0==s&&t[2]+0>n))}else o++}next}',
  '/^[A-Za-z0-9_.:@-]+=/{f();if($0~/^[^=]*[.]job_stats=/){p=$0;sub(/=.*/,".",p);c=q=S=N=o=0}}',
  '{e();print}',
  'END{f()}',
].join('')

/** Command that reads parameters, followed by `filterTail`. */
export const filteredCommand = (names: readonly string[], after: Mark): string =>
  `${getParamCommand(...names)} | ${filterTail(after)}`

const isMark = ({ s, ns }: Mark): boolean =>
  Number.isInteger(s) && s >= 0 && s < 1e12 && Number.isInteger(ns) && ns >= 0 && ns < 1e9

/** @throws RangeError for an invalid mark. */
export function filterTail(after: Mark): string {
  if (!isMark(after)) throw new RangeError('no time of a clock')
  return `LC_ALL=C awk -v s=${after.s} -v n=${after.ns} '${SCRIPT}'`
}

/** Parses a filtered command; undefined for a line that `filteredCommand` does not make. */
export function readFiltered(line: string): { readonly reading: string; readonly after: Mark } | undefined {
  const at = line.indexOf(' | ')
  const m = /^ \| LC_ALL=C awk -v s=(\d{1,12}) -v n=(\d{1,9}) /.exec(at < 0 ? '' : line.slice(at))
  if (!m) return undefined
  const after = { s: Number(m[1]), ns: Number(m[2]) }
  return isMark(after) && line.slice(at) === ` | ${filterTail(after)}`
    ? { reading: line.slice(0, at), after }
    : undefined
}

/** Sums of one table as printed by the program. */
export interface FilterSum {
  readonly entries: number
  readonly printed: number
  readonly seconds: number
  readonly nanos: number
  /** Entries without a time in ns. */
  readonly odd: number
}

/** Name of the value under which a table's sum is printed. */
export const sumNameOf = (param: string): string => `${param}.sum`

export function parseFilterSum(text: ByteText | undefined): FilterSum | undefined {
  const m = /^(\d{1,9}) (\d{1,9}) (\d{1,18}) (\d{1,18}) (\d{1,9})$/.exec(text ?? '')
  if (!m) return undefined
  const [, entries, printed, seconds, nanos, odd] = m.map(Number)
  return { entries, printed, seconds, nanos, odd } as FilterSum
}
