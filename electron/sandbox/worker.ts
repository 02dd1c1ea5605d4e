/**
 * The program of a sandbox thread: is given a scenario, then run after run of it, until nobody needs it any more and it is ended.
 * It holds no files and no servers; whatever happens to it, only the run in its hands is lost.
 */
import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Failure } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { RunReport } from '#core/sandbox/run-report.ts'
import { buffersOf, digestOf, type DigestPlan, type RunDigest } from '#core/sandbox/run-digest.ts'
import { runVariant, type RunTask } from '#core/sandbox/run.ts'

/** What a thread is begun with. */
export interface WorkerSetup {
  readonly yields: boolean
}

/** What a thread is told. */
export type ToWorker =
  | { readonly kind: 'scenario'; readonly scenario: Scenario }
  /** @param plan  what to keep of the run; undefined: the whole report. */
  | { readonly kind: 'run'; readonly task: RunTask; readonly plan: DigestPlan | undefined }

/** Of the run, and of its thread. */
interface RunCost {
  readonly wallMs: number
  readonly memoryBytes: number
}

/** What it answers to each run. */
export type FromWorker =
  | ({ readonly kind: 'digest'; readonly digest: RunDigest } & RunCost)
  | ({ readonly kind: 'report'; readonly report: RunReport } & RunCost)
  | { readonly kind: 'failed'; readonly failure: Failure }

/** Below sampling, frames and everything else of this process. */
const NICE = 3

/** Lowers this thread's priority, where the system gives threads one of their own: Linux. */
function stepBack(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICE)
  } catch {
    // It then runs beside the others as their equal.
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
  const tell = (message: FromWorker, handed: ArrayBuffer[] = []): void => parentPort?.postMessage(message, handed)
  if (!run.ok) return tell({ kind: 'failed', failure: run.error })
  if (!plan) return tell({ kind: 'report', report: run.value, wallMs, memoryBytes })
  const digest = digestOf(run.value, plan)
  tell({ kind: 'digest', digest, wallMs, memoryBytes }, buffersOf(digest))
}

if ((workerData as WorkerSetup | null)?.yields) stepBack()
parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'scenario') scenario = message.scenario
  else answer(message.task, message.plan)
})
