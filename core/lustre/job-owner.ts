/**
 * Owner of a job as far as its id tells: root, another user, or not known. Ids are made by clients from `jobid_var` and
 * `jobid_name`, and a command may hold the very characters that separate the fields, so an id can often be taken apart in
 * several ways. One way in which it is root's is enough: controllers must not limit what root runs.
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
/** Ids whose owner is remembered: controllers ask for the same ones every period. */
const REMEMBERED_MAX = 20_000

const NUMBER = /^(?:0|[1-9]\d{0,9})/
const HOST = /^[A-Za-z0-9_.-]+/
const SHORT_HOST = /^[A-Za-z0-9_-]+/

/** Lengths that a value may have at the beginning of `rest`; the shortest and the longest. */
function lengthsOf({ code, width = Infinity }: NameField, rest: ByteText): { least: number; most: number } {
  const most = (pattern: RegExp): number => Math.min(width, pattern.exec(rest)?.[0].length ?? 0)
  const none = width === 0 ? 0 : 1
  switch (code) {
    // A process may give itself an empty name.
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

  /** Reads the parts from `part` on in the id from `at` on; `owner` is what the parts before tell. */
  #from(part: number, at: number, owner: JobOwner): void {
    const key = `${part} ${at} ${owner}`
    if (this.#tried.has(key)) return
    this.#tried.add(key)
    const p = this.#name[part]
    const rest = this.#id.slice(at)
    // An id that is as long as ids get may have lost its end.
    if (rest === '' && (p === undefined || this.#isCut)) this.owners.add(owner)
    if (p === undefined) return
    if (typeof p === 'string') {
      if (rest.startsWith(p)) this.#from(part + 1, at + p.length, owner)
      else if (this.#isCut && p.startsWith(rest)) this.owners.add(owner)
      return
    }
    for (const field of p.otherwise ? [p, p.otherwise] : [p]) {
      const { least, most } = lengthsOf(field, rest)
      // Without a job the alternative stands there, so the job itself is not empty.
      const from = field === p && p.otherwise ? 1 : least
      for (let n = from; n <= most; n++) {
        this.#from(part + 1, at + n, this.#told(p, field, rest.slice(0, n), owner))
      }
    }
  }

  #told(part: NameField, field: NameField, value: ByteText, owner: JobOwner): JobOwner {
    if (owner === 'root' || value === '') return owner
    if (field.code === 'u') return value === '0' ? 'root' : 'user'
    if (this.#hasUser) return owner
    // Without a uid: the group of root is taken for root, and who has a job of the scheduler is a user of it.
    if (field.code === 'g' && value === '0') return 'root'
    // Schedulers number their jobs; a host that stands in for one hardly begins with a digit, a command may.
    const isJob = field.code === 'j' || (field === part.otherwise && (field.code === 'h' || field.code === 'H'))
    return isJob && (part.otherwise === undefined || /^\d/.test(value)) ? 'user' : owner
  }
}

/** Job ids of one cluster, read by the templates that its clients use. */
export class JobOwners {
  readonly #names: readonly JobName[]
  readonly #isModel: boolean
  readonly #known = new Map<ByteText, JobOwner>()

  /** @param isModel  ids that no template makes are users': in a model, jobs are called what their scenario likes. */
  constructor(names: readonly JobName[], isModel = false) {
    this.#names = names
    this.#isModel = isModel
  }

  /** Owner by the id alone. An id that no template makes has an unknown one. */
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
   * Whether a job is root's, or may be.
   *
   * @param user  as the batch system has it; empty where that is not known. It decides where the id does not.
   */
  isSystem(id: ByteText, user: string): boolean {
    if (user === 'root' || user === '0') return true
    const owner = this.of(id)
    return owner === 'root' || (owner === 'unknown' && user === '')
  }
}

/** The same template as clients of the releases read it: some know widths and alternatives, others do not. */
function namesOf(template: string): JobName[] {
  const parsed = Object.values(JOB_NAME_DIALECTS).map((dialect) => parseJobName(template, dialect))
  return [...new Map(parsed.map((name) => [JSON.stringify(name), name])).values()]
}

/**
 * The templates that a setting makes ids from.
 *
 * With an environment variable the value alone is the id, unless `jobid_name` contains `%j`; the template then is for processes
 * without the variable. A session's value is treated alike.
 *
 * @returns  why owners cannot be told by it, as the end of a sentence.
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
  const tells = names.some((n) => has(n, 'u') || has(n, 'j'))
  // The host or the command alone: every id may hold what root does.
  if (!tells) return fail(`jobid_name is ${template}: its ids tell neither the user nor a job of the batch system`)
  return ok(new JobOwners(names))
}

/** Jobs of scenarios: a job number, a command and a user, as the emulated servers say; or a command and a user. */
export const MODEL_JOB_OWNERS = new JobOwners(['%j.%e.u%u', '%e.%u'].flatMap(namesOf), true)
