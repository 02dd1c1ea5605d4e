/**
 * Whose requests a stage has seen: pairs of job and user with their flows. Usually there is one, the stage's own. The first
 * PRINCIPALS_MAX pairs are kept; further ones are told apart as well, but looked up for each request and not reported.
 */
import { POSIX_CALLS, type PosixCallRow } from '../posix-calls.ts'
import { Flow } from './flow.ts'

export const PRINCIPALS_MAX = 10_000
const CALLS = POSIX_CALLS.length

export class Principal {
  readonly job: string
  readonly user: string
  readonly #workflows: number
  readonly #flows: (Flow | undefined)[] = []

  constructor(job: string, user: string, workflows: number) {
    this.job = job
    this.user = user
    this.#workflows = workflows
  }

  /** @param workflow  its index; @param size  its class. */
  flow(call: PosixCallRow, workflow: number, size: number): Flow {
    const at = (size * this.#workflows + workflow) * CALLS + call.index
    return this.#flows[at] ?? this.#newFlow(at, call, workflow, size)
  }

  get flows(): Flow[] {
    return this.#flows.filter((flow) => flow !== undefined)
  }

  #newFlow(at: number, call: PosixCallRow, workflow: number, size: number): Flow {
    while (this.#flows.length < at) this.#flows.push(undefined)
    return (this.#flows[at] = new Flow(call, workflow, size, this.user, this.job))
  }
}

export class Principals {
  readonly own: Principal
  readonly #workflows: number
  readonly #byJob = new Map<string, Map<string, Principal>>()
  #size = 1

  constructor(job: string, user: string, workflows: number) {
    this.#workflows = workflows
    this.own = new Principal(job, user, workflows)
    this.#byJob.set(job, new Map([[user, this.own]]))
  }

  of(job: string = this.own.job, user: string = this.own.user): Principal {
    const known = this.#byJob.get(job)?.get(user)
    if (known !== undefined) return known
    const principal = new Principal(job, user, this.#workflows)
    if (this.#size === PRINCIPALS_MAX) return principal
    const users = this.#byJob.get(job)
    if (users === undefined) this.#byJob.set(job, new Map([[user, principal]]))
    else users.set(user, principal)
    this.#size++
    return principal
  }

  get all(): Principal[] {
    return [...this.#byJob.values()].flatMap((users) => [...users.values()])
  }
}
