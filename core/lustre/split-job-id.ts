/**
 * Job ids taken apart again by the template that made them. Ids are text of users: a name may hold what separates the
 * columns, so the rightmost fit is taken, and an id that does not fit has no columns at all.
 */
import { JOB_ID_MAX } from './job-id.ts'
import type { JobName, NameCode, NameField } from './job-name.ts'
import type { ByteText } from './text.ts'

export interface JobIdColumns {
  readonly job: ByteText | undefined
  readonly executable: ByteText | undefined
  readonly user: ByteText | undefined
  readonly group: ByteText | undefined
  readonly host: ByteText | undefined
  readonly pid: ByteText | undefined
  /** The id is as long as ids get: its end may be cut off, in the last column or before it. */
  readonly isTruncated: boolean
  /** The template has `%j?`, and whether the id begins with a digit decided between job and alternative. */
  readonly isGuess: boolean
}

type Column = 'job' | 'executable' | 'user' | 'group' | 'host' | 'pid'

const COLUMNS: Readonly<Record<NameCode, Column>> = {
  e: 'executable',
  g: 'group',
  h: 'host',
  H: 'host',
  j: 'job',
  p: 'pid',
  u: 'user',
}

const NO_COLUMNS: Record<Column, undefined> = {
  job: undefined,
  executable: undefined,
  user: undefined,
  group: undefined,
  host: undefined,
  pid: undefined,
}

const isDigit = (c: string): boolean => c >= '0' && c <= '9'
const isHostLetter = (c: string): boolean => isDigit(c) || /[A-Za-z_-]/.test(c)

/** What a value may hold; ids are numbers, hosts are names, commands and jobs are anything. */
const ALLOWED: Readonly<Record<NameCode, (c: string) => boolean>> = {
  e: () => true,
  g: isDigit,
  h: (c) => isHostLetter(c) || c === '.',
  H: isHostLetter,
  j: () => true,
  p: isDigit,
  u: isDigit,
}

/** Longest stretch of `id` from `from` on that may be the value of a field. */
function longest({ code, width, otherwise }: NameField, id: ByteText, from: number): number {
  const end = Math.min(id.length, from + (width ?? id.length))
  let to = from
  while (to < end && ALLOWED[code](id[to] as string)) to++
  return otherwise ? Math.max(to - from, longest(otherwise, id, from)) : to - from
}

/** Only a job may be missing: outside the scheduler there is none. */
const shortest = ({ code, width, otherwise }: NameField): number =>
  (code === 'j' && !otherwise) || width === 0 ? 0 : 1

class Fit {
  readonly #name: JobName
  readonly #id: ByteText
  readonly #mayEnd: boolean
  /** Places that were tried and led nowhere, part by part. */
  readonly #failed = new Set<number>()
  readonly values: ByteText[] = []

  /** @param mayEnd  the id may end before the template does. */
  constructor(name: JobName, id: ByteText, mayEnd: boolean) {
    this.#name = name
    this.#id = id
    this.#mayEnd = mayEnd
  }

  /** Fits the parts from `part` on to the id from `at` on; each takes as much as leaves the others a fit. */
  from(part: number, at: number): boolean {
    const place = part * (this.#id.length + 1) + at
    if (this.#failed.has(place)) return false
    const fits = this.#tryPart(part, at)
    if (!fits) this.#failed.add(place)
    return fits
  }

  #tryPart(part: number, at: number): boolean {
    const p = this.#name[part]
    const id = this.#id
    if (at === id.length && this.#mayEnd && part > 0) {
      this.values.length = part
      return true
    }
    if (p === undefined) return at === id.length
    if (typeof p === 'string') {
      const rest = id.slice(at, at + p.length)
      if (rest !== p && !(this.#mayEnd && at + rest.length === id.length && p.startsWith(rest))) return false
      this.values[part] = rest
      return this.from(part + 1, at + rest.length)
    }
    for (let n = longest(p, id, at); n >= shortest(p); n--) {
      this.values[part] = id.slice(at, at + n)
      if (this.from(part + 1, at + n)) return true
    }
    return false
  }
}

/** Puts values into their columns; undefined when a column that stands twice in the template has two values. */
function columnsOf(name: JobName, values: readonly ByteText[]): Omit<JobIdColumns, 'isTruncated'> | undefined {
  const columns: Record<Column, ByteText | undefined> = { ...NO_COLUMNS }
  let isGuess = false
  for (const [i, part] of name.entries()) {
    const value = values[i] ?? ''
    if (typeof part === 'string' || value === '') continue
    let field = part
    if (part.otherwise) {
      isGuess = true
      // Schedulers number their jobs; hosts and commands seldom begin with a digit.
      if (!isDigit(value[0] as string) && longest(part.otherwise, value, 0) === value.length) field = part.otherwise
    }
    const column = COLUMNS[field.code]
    // The short name of a host is a part of the long one.
    const known = columns[column]
    if (known !== undefined && known !== value && column !== 'host') return undefined
    if (known === undefined || known.length < value.length) columns[column] = value
  }
  return { ...columns, isGuess }
}

/**
 * Takes a job id apart.
 *
 * @returns  its columns; undefined where the template has no such field, the id does not fit, or its end with the field is
 *           cut off.
 * @complexity  O(parts * bytes^2).
 */
export function splitJobId(name: JobName, id: ByteText): JobIdColumns {
  const isTruncated = id.length >= JOB_ID_MAX
  for (const mayEnd of isTruncated ? [false, true] : [false]) {
    const fit = new Fit(name, id, mayEnd)
    if (!fit.from(0, 0)) continue
    const columns = columnsOf(name, fit.values)
    if (columns) return { ...columns, isTruncated }
  }
  return { ...NO_COLUMNS, isTruncated, isGuess: false }
}
