/**
 * Job id settings of a cluster's servers, and whether a controller may enforce by them: who runs a job is told by its id, so
 * without one known template for all servers root's jobs cannot be spared.
 *
 * In enforce the settings are read again every few seconds; what differs from those that enforce began with ends it.
 */
import { jobOwners, MODEL_JOB_OWNERS, type JobIdSetting, type JobOwners } from '#core/lustre/job-owner.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { getParamCommand, splitParams } from '#core/lustre/lctl.ts'
import {
  isLustreServer,
  type ClusterSource,
  type ExecResult,
  type JobIdSettings,
  type NodeConnection,
} from '../../base/connection.ts'

/** Settings are read again after this in enforce, ns. */
const AGAIN_NS = 10 * NS_PER_S
const READ = getParamCommand('jobid_var', 'jobid_name')

const textOf = ({ variable, name }: JobIdSetting): string => `jobid_var=${variable} jobid_name=${name}`

/** Who jobs belong to by the settings of all servers, or why that is not known. */
function agreed(settings: JobIdSettings): Result<{ readonly owners: JobOwners; readonly text: string }, string> {
  const sorted = [...settings].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  const [other = '', first] = sorted[0] ?? []
  for (const [host, setting] of sorted) {
    if (!setting) return fail(`${host} does not tell its jobid_var and jobid_name`)
    if (first && textOf(first) !== textOf(setting)) {
      return fail(`${other} has ${textOf(first)}, and ${host} has ${textOf(setting)}`)
    }
  }
  if (!first) return fail('no server has told its jobid_var and jobid_name yet')
  const owners = jobOwners(first)
  return owners.ok ? ok({ owners: owners.value, text: textOf(first) }) : owners
}

export class JobIdWatch {
  readonly #source: ClusterSource
  readonly #exec: (node: NodeConnection, command: string) => Promise<Result<ExecResult>>
  readonly #read = new Map<string, { readonly atNs: number; readonly setting: JobIdSetting | undefined }>()
  readonly #reading = new Set<string>()
  #judged: { readonly key: string; readonly result: ReturnType<typeof agreed> } | undefined
  /** The settings that enforce began with; undefined outside it. */
  #enforced: string | undefined
  #ended: Failure | undefined

  /** @param exec  runs a command on a server in its turn among the other readings. */
  constructor(source: ClusterSource, exec: (node: NodeConnection, command: string) => Promise<Result<ExecResult>>) {
    this.#source = source
    this.#exec = exec
  }

  /** Whether a job is never limited by a controller. @param user  as the batch system has it; empty: not known. */
  isSystem(jobId: string, user: string): boolean {
    if (this.#source.kind === 'EMULATED') return MODEL_JOB_OWNERS.isSystem(jobId, user)
    const now = this.#now()
    return !now.ok || now.value.owners.isSystem(jobId, user)
  }

  /** Why no controller may enforce; undefined where one may. */
  get refusal(): Failure | undefined {
    if (this.#source.kind === 'EMULATED') return undefined
    const now = this.#now()
    return now.ok ? undefined : this.#unknown(now.error)
  }

  /** Why enforce was left; undefined after the mode was chosen again. */
  get ended(): Failure | undefined {
    return this.#ended
  }

  /** A mode was chosen: what ended the one before is settled. */
  chosen(): void {
    this.#ended = undefined
    this.#enforced = undefined
  }

  /** Reads what is due; only servers of which nothing is known are waited for. */
  async refresh(nodes: readonly NodeConnection[], nowNs: number, isEnforcing: boolean): Promise<void> {
    if (this.#source.kind === 'EMULATED') return
    const told = this.#source.jobIdSettings?.()
    // What was found out when a server answered again is newer than what was read before.
    if (!isEnforcing) for (const host of told?.keys() ?? []) this.#read.delete(host)
    const first: Promise<void>[] = []
    const asked = new Set<string>()
    for (const node of nodes) {
      if (!isLustreServer(node)) continue
      const { host } = node
      if (asked.has(host) || this.#reading.has(host)) continue
      asked.add(host)
      const known = this.#read.get(host)
      const isNew = !known && told?.has(host) !== true
      const isDue = isEnforcing && (!known || nowNs - known.atNs >= AGAIN_NS || nowNs < known.atNs)
      if (!isNew && !isDue) continue
      const reading = this.#ask(node, host, nowNs)
      if (isNew) first.push(reading)
    }
    await Promise.all(first)
  }

  /** To be called in enforce before anything is written: why it must be left; undefined where it may go on. */
  check(): Failure | undefined {
    if (this.#source.kind === 'EMULATED') return undefined
    const now = this.#now()
    if (!now.ok) return (this.#ended = this.#unknown(now.error))
    this.#enforced ??= now.value.text
    if (this.#enforced === now.value.text) return undefined
    return (this.#ended = {
      code: 'JOBID_TEMPLATE_CHANGED',
      what: `Controllers left enforce on ${this.#source.cluster}`,
      why: `job ids were made by ${this.#enforced} and are now made by ${now.value.text}`,
      unaffected: 'Their rules are removed; sampling continues.',
      next: 'Look at the jobs under their new ids, then enforce again.',
    })
  }

  #unknown(why: string): Failure {
    return {
      code: 'JOBID_TEMPLATE_UNKNOWN',
      what: `No controller may enforce on ${this.#source.cluster}: root's jobs cannot be told from others`,
      why,
      unaffected: 'It is sampled; observe, advise and rules committed by hand work.',
      next: 'Set the same on all servers and clients, on the MGS: lctl set_param -P jobid_var=SLURM_JOB_ID jobid_name=%j.%e.%u',
    }
  }

  #now(): ReturnType<typeof agreed> {
    const settings = new Map<string, JobIdSetting | undefined>(this.#source.jobIdSettings?.())
    for (const [host, { setting }] of this.#read) settings.set(host, setting)
    const key = JSON.stringify([...settings])
    if (this.#judged?.key !== key) this.#judged = { key, result: agreed(settings) }
    return this.#judged.result
  }

  async #ask(node: NodeConnection, host: string, nowNs: number): Promise<void> {
    this.#reading.add(host)
    try {
      const ran = await this.#exec(node, READ)
      // A server that does not answer gets no rules either; what is known of it stays.
      if (!ran.ok) return
      const values = splitParams(ran.value.stdout)
      const [variable, name] = ['jobid_var', 'jobid_name'].map((n) => values.get(n)?.trim().slice(0, 200))
      const isTold = variable !== undefined && name !== undefined
      this.#read.set(host, { atNs: nowNs, setting: isTold ? { variable, name } : undefined })
    } finally {
      this.#reading.delete(host)
    }
  }
}
