/** Mapping of Lustre job ids to batch jobs, by the formats of `jobid_name`. */
import { parseJobName, type JobName } from '../lustre/job-name.ts'

/** Longest accepted job number. */
const NUMBER = /^(\d{1,18})(?:\[(\d{1,9})?\])?/

/** Position of the job number and host in ids of a format. */
export interface JobForm {
  /** undefined if ids have no job number. */
  readonly find: ((jobId: string) => string | undefined) | undefined
  /** Returns the host in an id; undefined if ids have no host. */
  readonly host: ((jobId: string) => string | undefined) | undefined
}

/** Returns a leading number, unless it is part of a longer word. */
function leading(text: string): string | undefined {
  const m = NUMBER.exec(text)
  if (!m) return undefined
  const next = text[m[0].length]
  return next === undefined || /[.@:_ -]/.test(next) ? m[1] : undefined
}

/**
 * Returns the batch job number of an id that begins with the job, as in `%j`, `%j.%e.%u` and `jobid_var=SLURM_JOB_ID`; PBS writes
 * `1234.server` or `1234[5].server`.
 */
export const batchNumber = (jobId: string): string | undefined => leading(jobId)

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Builds a pattern for ids of a format, with groups for the job and the host; undefined if the format is ambiguous. */
function patternOf(name: JobName): RegExp | undefined {
  let source = '^'
  let hasFields = false
  const used = new Set<string>()
  for (const part of name) {
    if (typeof part === 'string') {
      source += escape(part)
      continue
    }
    hasFields = true
    const { code } = part
    const isNumber = code === 'g' || code === 'u' || code === 'p'
    const group = (code === 'j' || code === 'h' || code === 'H') && !used.has(code) ? `?<${code}>` : '?:'
    used.add(code)
    source += isNumber
      ? `(${group}\\d+)`
      : code === 'e'
        ? `(${group}.*)`
        : code === 'j'
          ? `(${group}[^.@:]*(?:\\[\\d*\\])?)`
          : `(${group}[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*)`
  }
  return hasFields ? new RegExp(`${source}$`, 's') : undefined
}

/** Returns how ids of a `jobid_name` are parsed. Ids of 31 bytes may have been truncated: their last part is not trusted. */
export function jobForm(template: string): JobForm {
  const name = parseJobName(template)
  const codes = name.flatMap((p) => (typeof p === 'string' ? [] : [p.code]))
  const pattern = patternOf(name)
  const hostCode = codes.find((c) => c === 'h' || c === 'H')
  return {
    find: codes.includes('j') ? (id) => leading(pattern?.exec(id)?.groups?.j ?? '') : undefined,
    host:
      hostCode === undefined
        ? undefined
        : (id) => (id.length >= 31 ? undefined : pattern?.exec(id)?.groups?.[hostCode]),
  }
}
