/**
 * Owner of a job as derived from its id: root, another user, or unknown. Clients form ids from `jobid_var` and `jobid_name`, and a
 * command may contain the separator characters, so an id often has several readings. One reading as root's is enough: controllers must
 * not limit jobs of root.
 *
 * Source: spec/lustre 4.5, lustre-measured A27, A28.
 */
import { fail, ok, type Result } from '../base/result.ts'
import { JOB_ID_MAX } from './job-id.ts'
import { JOB_NAME_DIALECTS, parseJobName, type JobName, type NameCode, type NameField } from './job-name.ts'
import type { ByteText } from './text.ts'

/** Job id settings of a cluster's clients, as `lctl get_param jobid_var jobid_name` prints them. */
export interface JobIdSetting {
  /** `disable`, `procname_uid`, `nodelocal`, `session`, or the name of an environment variable. */
  readonly variable: string
  /** The template. */
  readonly name: string
}

/** root: at least one reading of the id has uid 0. unknown: no reading excludes it. user: every reading has another owner. */
export type JobOwner = 'root' | 'user' | 'unknown'

/** Commands are at most this long, bytes (TASK_COMM_LEN less the NUL). */
const COMMAND_MAX = 15
/** Cached owners: controllers query the same ids every period. */
const REMEMBERED_MAX = 20_000

const NUMBER = /^(?:0|[1-9]\d{0,9})/
const HOST = /^[A-Za-z0-9_.-]+/
const SHORT_HOST = /^[A-Za-z0-9_-]+/

/** Returns the shortest and longest length of a value at the beginning of `rest`. */
function lengthsOf({ code, width = Infinity }: NameField, rest: ByteText): { least: number; most: number } {
  const most = (pattern: RegExp): number => Math.min(width, pattern.exec(rest)?.[0].length ?? 0)
  const none = width === 0 ? 0 : 1
  switch (code) {
    // A process may set an empty name.
    case 'e':
      return { least: 0, most: Math.min(width, COMMAND_MAX, rest.length) }
    case 'j':
      return { least: 0, most: Math.min(width, rest.length) }
    case 'h':
      return { least: none, most: most(HOST) }
    case 'H':
      return { least: none, most: most(SHORT_HOST) }
    case 'g':
    case 'p':
    case 'u':
      return { least: none, most: most(NUMBER) }
  }
}

const fieldsOf = (name: JobName): NameField[] =>
  name.flatMap((p) => (typeof p === 'string' ? [] : [p, ...(p.otherwise ? [p.otherwise] : [])]))
const has = (name: JobName, code: NameCode): boolean => fieldsOf(name).some((f) => f.code === code && f.width !== 0)

/** Finds the owners that one template allows for an id. */
class Readings {
  readonly #name: JobName
  readonly #id: ByteText
  readonly #hasUser: boolean
  readonly #isCut: boolean
  readonly #tried = new Set<string>()
  readonly owners = new Set<JobOwner>()

  constructor(name: JobName, id: ByteText) {
    this.#name = name
    this.#id = id
    this.#hasUser = has(name, 'u')
    this.#isCut = id.length >= JOB_ID_MAX
    this.#from(0, 0, 'unknown')
  }

  /** Parses the parts from `part` on in the id from `at` on; `owner` is the result of the preceding parts. */
  #from(part: number, at: number, owner: JobOwner): void {
    const key = `${part} ${at} ${owner}`
    if (this.#tried.has(key)) return
    this.#tried.add(key)
    const p = this.#name[part]
    const rest = this.#id.slice(at)
    // An id of maximum length may have been truncated.
    if (rest === '' && (p === undefined || this.#isCut)) this.owners.add(owner)
    if (p === undefined) return
    if (typeof p === 'string') {
      if (rest.startsWith(p)) this.#from(part + 1, at + p.length, owner)
      else if (this.#isCut && p.startsWith(rest)) this.owners.add(owner)
      return
    }
    for (const field of p.otherwise ? [p, p.otherwise] : [p]) {
      const { least, most } = lengthsOf(field, rest)
      // Without a job the alternative is used, so the job itself is not empty.
      const from = field === p && p.otherwise ? 1 : least
      for (let n = from; n <= most; n++) {
        this.#from(part + 1, at + n, this.#ownerAfter(p, field, rest.slice(0, n), owner))
      }
    }
  }

  #ownerAfter(part: NameField, field: NameField, value: ByteText, owner: JobOwner): JobOwner {
    if (owner === 'root' || value === '') return owner
    if (field.code === 'u') return value === '0' ? 'root' : 'user'
    if (this.#hasUser) return owner
    // Without a uid: root's group counts as root, and a job of the scheduler counts as a user's.
    if (field.code === 'g' && value === '0') return 'root'
    // Schedulers number their jobs; a host name used as the alternative hardly begins with a digit, a command may.
    const isJob = field.code === 'j' || (field === part.otherwise && (field.code === 'h' || field.code === 'H'))
    return isJob && (part.otherwise === undefined || /^\d/.test(value)) ? 'user' : owner
  }
}

/** Owners of one cluster's job ids, by the templates that its clients use. */
export class JobOwners {
  readonly #names: readonly JobName[]
  readonly #isModel: boolean
  readonly #known = new Map<ByteText, JobOwner>()

  /** @param isModel  ids that match no template belong to users: in a model, scenarios name jobs freely. */
  constructor(names: readonly JobName[], isModel = false) {
    this.#names = names
    this.#isModel = isModel
  }

  /** Returns the owner by the id alone; unknown if the id matches no template. */
  of(id: ByteText): JobOwner {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const owners = new Set(this.#names.flatMap((name) => [...new Readings(name, id).owners]))
    const none = this.#isModel ? 'user' : 'unknown'
    const owner = owners.has('root') ? 'root' : owners.has('unknown') ? 'unknown' : owners.has('user') ? 'user' : none
    if (this.#known.size >= REMEMBERED_MAX) this.#known.clear()
    this.#known.set(id, owner)
    return owner
  }

  /**
   * True if a job belongs to root or may do so.
   *
   * @param user  owner according to the batch system; empty if unknown. It decides if the id is ambiguous.
   */
  isSystem(id: ByteText, user: string): boolean {
    if (user === 'root' || user === '0') return true
    const owner = this.of(id)
    return owner === 'root' || (owner === 'unknown' && user === '')
  }
}

/** Returns the readings of a template by clients of different releases: some support widths and alternatives, others do not. */
function namesOf(template: string): JobName[] {
  const parsed = Object.values(JOB_NAME_DIALECTS).map((dialect) => parseJobName(template, dialect))
  return [...new Map(parsed.map((name) => [JSON.stringify(name), name])).values()]
}

/**
 * Returns the templates from which a setting forms ids.
 *
 * With an environment variable the value alone is the id, unless `jobid_name` contains `%j`; the template then is for processes without
 * the variable. A session's value is treated alike.
 *
 * @returns  the reason why it does not determine owners, as the end of a sentence.
 */
export function jobOwners({ variable, name }: JobIdSetting): Result<JobOwners, string> {
  if (variable === '' || variable === 'disable') {
    return fail(
      `jobid_var is ${variable === '' ? 'empty' : 'disable'}, so the ids that are seen are made by other settings`,
    )
  }
  const template = variable === 'procname_uid' ? '%e.%u' : name
  const isValueAlone = variable !== 'procname_uid' && variable !== 'nodelocal' && !template.includes('%j')
  const names = [...(isValueAlone ? namesOf('%j') : []), ...namesOf(template)]
  const identifies = names.some((n) => has(n, 'u') || has(n, 'j'))
  // Only the host or the command: any id may contain work of root.
  if (!identifies) return fail(`jobid_name is ${template}: its ids contain neither the user nor a batch job`)
  return ok(new JobOwners(names))
}

/** Jobs of scenarios: job number, command and user, as reported by the emulated servers; or command and user. */
export const MODEL_JOB_OWNERS = new JobOwners(['%j.%e.u%u', '%e.%u'].flatMap(namesOf), true)
