/**
 * Job id settings of a cluster's servers, and the decision whether a controller may enforce with them: the owner of a
 * job is determined from its id, so without one known template for all servers root's jobs cannot be exempted.
 *
 * In enforce mode the settings are read again every few seconds; if they have changed since it began, the mode ends.
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

/** Interval of reading the settings in enforce, ns. */
const AGAIN_NS = 10 * NS_PER_S
const READ = getParamCommand('jobid_var', 'jobid_name')

const textOf = ({ variable, name }: JobIdSetting): string => `jobid_var=${variable} jobid_name=${name}`

/** Job owners by the settings of all servers, or the reason why they are unknown. */
function agreed(settings: JobIdSettings): Result<{ readonly owners: JobOwners; readonly text: string }, string> {
  const sorted = [...settings].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
  const [firstHost = '', first] = sorted[0] ?? []
  for (const [host, setting] of sorted) {
    if (!setting) return fail(`${host} does not report its jobid_var and jobid_name`)
    if (first && textOf(first) !== textOf(setting)) {
      return fail(`${firstHost} has ${textOf(first)}, and ${host} has ${textOf(setting)}`)
    }
  }
  if (!first) return fail('no server has reported its jobid_var and jobid_name yet')
  const owners = jobOwners(first)
  return owners.ok ? ok({ owners: owners.value, text: textOf(first) }) : owners
}

export class JobIdWatch {
  readonly #source: ClusterSource
  readonly #exec: (node: NodeConnection, command: string) => Promise<Result<ExecResult>>
  readonly #read = new Map<string, { readonly atNs: number; readonly setting: JobIdSetting | undefined }>()
  readonly #reading = new Set<string>()
  #judged: { readonly key: string; readonly result: ReturnType<typeof agreed> } | undefined
  /** Settings that enforce began with; undefined outside it. */
  #enforced: string | undefined
  #ended: Failure | undefined

  /** @param exec  runs a command on a server in queue order with the other readings. */
  constructor(source: ClusterSource, exec: (node: NodeConnection, command: string) => Promise<Result<ExecResult>>) {
    this.#source = source
    this.#exec = exec
  }

  /**
   * True for a job that is never limited by a controller. @param user  as reported by the batch system; empty: unknown.
   */
  isSystem(jobId: string, user: string): boolean {
    return this.systemJobs()(jobId, user)
  }

  /** `isSystem` by the present settings, for many jobs. */
  systemJobs(): (jobId: string, user: string) => boolean {
    if (this.#source.kind === 'EMULATED') return (jobId, user) => MODEL_JOB_OWNERS.isSystem(jobId, user)
    const now = this.#now()
    return now.ok ? (jobId, user) => now.value.owners.isSystem(jobId, user) : () => true
  }

  /** Reason why no controller may enforce; undefined if allowed. */
  get refusal(): Failure | undefined {
    if (this.#source.kind === 'EMULATED') return undefined
    const now = this.#now()
    return now.ok ? undefined : this.#unknown(now.error)
  }

  /** Reason why enforce was left; undefined after the mode was chosen again. */
  get ended(): Failure | undefined {
    return this.#ended
  }

  /** Called when a mode was chosen, which clears the reason for leaving the previous one. */
  chosen(): void {
    this.#ended = undefined
    this.#enforced = undefined
  }

  /** Reads the settings that are due; only servers without known settings are awaited. */
  async refresh(nodes: readonly NodeConnection[], nowNs: number, isEnforcing: boolean): Promise<void> {
    if (this.#source.kind === 'EMULATED') return
    const settings = this.#source.jobIdSettings?.()
    // Facts discovered when a server answered again are newer than earlier readings.
    if (!isEnforcing) for (const host of settings?.keys() ?? []) this.#read.delete(host)
    const first: Promise<void>[] = []
    const queried = new Set<string>()
    for (const node of nodes) {
      if (!isLustreServer(node)) continue
      const { host } = node
      if (queried.has(host) || this.#reading.has(host)) continue
      queried.add(host)
      const known = this.#read.get(host)
      const isNew = !known && settings?.has(host) !== true
      const isDue = isEnforcing && (!known || nowNs - known.atNs >= AGAIN_NS || nowNs < known.atNs)
      if (!isNew && !isDue) continue
      const reading = this.#query(node, host, nowNs)
      if (isNew) first.push(reading)
    }
    await Promise.all(first)
  }

  /**
   * To be called in enforce before anything is written. Returns the reason for leaving it; undefined if it may
   * continue.
   */
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
      next: 'Check the jobs under their new ids, then enforce again.',
    })
  }

  #unknown(why: string): Failure {
    return {
      code: 'JOBID_TEMPLATE_UNKNOWN',
      what: `No controller may enforce on ${this.#source.cluster}: root's jobs cannot be identified`,
      why,
      unaffected: 'Monitoring continues; observe, advise and manually committed rules work.',
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

  async #query(node: NodeConnection, host: string, nowNs: number): Promise<void> {
    this.#reading.add(host)
    try {
      const ran = await this.#exec(node, READ)
      // A server that does not answer gets no rules either; its known settings stay.
      if (!ran.ok) return
      const values = splitParams(ran.value.stdout)
      const [variable, name] = ['jobid_var', 'jobid_name'].map((n) => values.get(n)?.trim().slice(0, 200))
      const isComplete = variable !== undefined && name !== undefined
      this.#read.set(host, { atNs: nowNs, setting: isComplete ? { variable, name } : undefined })
    } finally {
      this.#reading.delete(host)
    }
  }
}
