/** The batch job behind a Lustre job id, by the forms that `jobid_name` gives ids. */
import { parseJobName, type JobName } from '../lustre/job-name.ts'

/** Longest number that is one. */
const NUMBER = /^(\d{1,18})(?:\[(\d{1,9})?\])?/

/** Where the job number stands in ids of a form. */
export interface JobForm {
  /** undefined: ids have no job number. */
  readonly find: ((jobId: string) => string | undefined) | undefined
  /** Whether ids end with the host, and what stands before it. */
  readonly host: ((jobId: string) => string | undefined) | undefined
}

/** A number at the beginning, followed by nothing that would make it a part of a longer word. */
function leading(text: string): string | undefined {
  const m = NUMBER.exec(text)
  if (!m) return undefined
  const next = text[m[0].length]
  return next === undefined || /[.@:_ -]/.test(next) ? m[1] : undefined
}

/**
 * The number of the batch job in an id whose first part is the job, as `%j`, `%j.%e.%u` and `jobid_var=SLURM_JOB_ID` give it; PBS
 * writes `1234.server` or `1234[5].server`.
 */
export const batchNumber = (jobId: string): string | undefined => leading(jobId)

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A pattern of ids of a form, with groups for the job and the host; undefined for a form that ids cannot be told from. */
function patternOf(name: JobName): RegExp | undefined {
  let [source, hasFields] = ['^', false]
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

/** How ids of a `jobid_name` are read. Ids of 31 bytes may have been cut off: what stands last in them is not trusted. */
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
