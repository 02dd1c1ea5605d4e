/**
 * Owners and nodes of jobs from the batch system, queried at an interval of its own. While it does not answer, the last
 * reply is used for some time.
 */
import type { BatchJob } from '#core/batch/batch-job.ts'
import { batchNumber, jobForm, type JobForm } from '#core/batch/lustre-job.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import type { Probes } from '../probes/probes.ts'
import { queryBatch, type BatchWay, firstWay } from './query-batch.ts'

/** Least time between two queries, however many new jobs there are, s: slurmctld answers one at a time. */
const LEAST_S = 5
/** The last reply expires after so many intervals without an answer. */
const STALE_INTERVALS = 8

/** Reason why a job is not known to the batch system. */
export type Unmapped =
  | { readonly kind: 'no batch system' | 'no answer'; readonly why: string }
  | { readonly kind: 'not a batch job' | 'ended' | 'not in the queue'; readonly why: string }

export class BatchQueue {
  readonly #source: ClusterSource
  readonly #probes: Probes
  readonly #node: NodeConnection | undefined
  readonly #form: JobForm
  #way: BatchWay | undefined
  #jobs: ReadonlyMap<string, BatchJob> | undefined
  /** Numbers that were in the queue before. */
  readonly #seen = new Set<string>()
  #takenNs = -Infinity
  #running: Promise<void> | undefined
  #hasNews = false
  #why = 'not queried yet'

  constructor(source: ClusterSource, probes: Probes) {
    this.#source = source
    this.#probes = probes
    this.#node = source.nodes.find((n) => n.roles.includes('scheduler'))
    // Without a known form the job comes first, as in all forms that sites use.
    const { jobIdName = '' } = source
    this.#form = jobIdName === '' ? { find: batchNumber, host: undefined } : jobForm(jobIdName)
  }

  /** Queries the batch system when due. A live sample does not wait for the answer. */
  async refresh(atNs: number): Promise<void> {
    const node = this.#node
    if (!node || this.#running) return
    if (!this.#probes.board.takeDue('batch', node.host, atNs)) return
    const queried = this.#query(node, atNs)
    this.#running = queried.finally(() => (this.#running = undefined))
    if (this.#source.kind === 'EMULATED') await this.#running
  }

  /** Requests an earlier query, for a new job that may be in the queue by now. */
  hurry(atNs: number): void {
    if (!this.#node) return
    const leastS = this.#source.kind === 'LIVE' ? LEAST_S : 0
    this.#probes.board.hurry('batch', this.#node.host, atNs, leastS)
  }

  /** True if something was read since the last call. */
  takeNews(): boolean {
    const had = this.#hasNews
    this.#hasNews = false
    return had
  }

  /** Ends the queries and forgets the jobs. */
  forget(why: string): void {
    this.#jobs = undefined
    // The next query tries every way again.
    this.#way = undefined
    this.#why = why
    this.#hasNews = true
  }

  /** The batch job behind a Lustre job id. */
  find(jobId: string): BatchJob | undefined {
    const number = this.#form.find?.(jobId)
    return number === undefined ? undefined : this.#jobs?.get(number)
  }

  /** Client named by a job id, if its form has one. */
  hostOf(jobId: string): string | undefined {
    return this.#form.host?.(jobId)
  }

  /** Reason why a job id has no batch job. */
  unmapped(jobId: string): Unmapped | undefined {
    if (!this.#node) return { kind: 'no batch system', why: 'no server of the cluster is its scheduler' }
    if (!this.#jobs) return { kind: 'no answer', why: this.#why }
    const number = this.#form.find?.(jobId)
    if (number === undefined) return { kind: 'not a batch job', why: 'its id has no job number' }
    if (this.#jobs.has(number)) return undefined
    return this.#seen.has(number)
      ? { kind: 'ended', why: `job ${number} was in the queue and has left it` }
      : { kind: 'not in the queue', why: `the queue has no job ${number}` }
  }

  async #query(node: NodeConnection, atNs: number): Promise<void> {
    const read = (command: string) => this.#probes.read('batch', node, command)
    const answer = await queryBatch(read, this.#way ?? firstWay(this.#source.kind))
    const { board } = this.#probes
    if (!board.isOn('batch')) return
    if (answer.ok) {
      this.#way = answer.way
      this.#jobs = new Map(answer.jobs.map((j) => [j.number, j]))
      for (const number of this.#jobs.keys()) this.#remember(number)
      this.#takenNs = atNs
      this.#hasNews = true
      board.note('batch', answer.skipped > 0 ? `${answer.skipped} jobs could not be read` : '')
      return
    }
    this.#why = answer.why
    board.note('batch', `no answer: ${answer.why}`)
    if (atNs - this.#takenNs > STALE_INTERVALS * board.everyS('batch') * 1e9) this.forget(answer.why)
  }

  #remember(number: string): void {
    this.#seen.delete(number)
    this.#seen.add(number)
    if (this.#seen.size > SEEN_MAX) this.#seen.delete(this.#seen.values().next().value ?? '')
  }
}

/** Maximum remembered numbers of jobs that have left the queue. */
const SEEN_MAX = 100_000
