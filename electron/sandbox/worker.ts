/**
 * Program of a sandbox thread: receives a scenario, then run after run of it, until it is terminated. It has no open files or
 * connections; if it crashes, only its current run is lost.
 */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Failure } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { RunReport } from '#core/sandbox/run-report.ts'
import { buffersOf, digestOf, type DigestPlan, type RunDigest } from '#core/sandbox/run-digest.ts'
import { runVariant, type RunTask } from '#core/sandbox/run.ts'

/** Start parameters of a thread. */
export interface WorkerSetup {
  readonly yields: boolean
}

/** Messages to a thread. */
export type ToWorker =
  | { readonly kind: 'scenario'; readonly scenario: Scenario }
  /** @param plan  digest plan of the run; undefined: the whole report. */
  | { readonly kind: 'run'; readonly task: RunTask; readonly plan: DigestPlan | undefined }

/** Cost of the run, and memory of its thread. */
interface RunCost {
  readonly wallMs: number
  readonly memoryBytes: number
}

/** Answers of a thread, one per run. */
export type FromWorker =
  | ({ readonly kind: 'digest'; readonly digest: RunDigest } & RunCost)
  | ({ readonly kind: 'report'; readonly report: RunReport } & RunCost)
  | { readonly kind: 'failed'; readonly failure: Failure }

/** Priority below sampling and all other work of this process. */
const NICE = 3

/** Lowers this thread's priority, on systems with per-thread priorities: Linux. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICE)
  } catch {
    // Runs with the same priority as the others then.
  }
}

let scenario: Scenario | undefined

function answer(task: RunTask, plan: DigestPlan | undefined): void {
  if (!scenario) throw new Error('a run came before its scenario')
  const beganMs = performance.now()
  const run = runVariant(scenario, task)
  const wallMs = performance.now() - beganMs
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  const memoryBytes = heapUsed + external + arrayBuffers
  const post = (message: FromWorker, transfer: ArrayBuffer[] = []): void => parentPort?.postMessage(message, transfer)
  if (!run.ok) return post({ kind: 'failed', failure: run.error })
  if (!plan) return post({ kind: 'report', report: run.value, wallMs, memoryBytes })
  const digest = digestOf(run.value, plan)
  post({ kind: 'digest', digest, wallMs, memoryBytes }, buffersOf(digest))
}

if ((workerData as WorkerSetup | null)?.yields) lowerPriority()
parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'scenario') scenario = message.scenario
  else answer(message.task, message.plan)
})
