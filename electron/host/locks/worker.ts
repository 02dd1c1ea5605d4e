/** Thread that runs the lock managers, so that sampling is not delayed; sends the results and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import type { LockManagerName, LocksCompare } from '#core/api/locks.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { compareManagers } from '#core/emulator/ccpfs-managers.ts'
import { bounded } from '../../cluster/locks/condition-text.ts'
import type { CompareTask } from './compare.ts'

type CompareResult = LocksCompare['results'][number]

const NAMES: Readonly<Record<LockManagerName, string>> = {
  seqdlm: 'SeqDLM',
  datatype: 'DLM-datatype',
  lustre: 'DLM-Lustre',
  basic: 'DLM-basic',
}

/** A manager that fails does not affect the results of others. */
function run(task: CompareTask, manager: LockManagerName): CompareResult {
  const { scenario, seconds, seed } = task
  try {
    const [outcome] = compareManagers(scenario, { managers: [manager], seconds, seed })
    if (outcome) {
      const { name, writeBps, readBps, longestWaitNs } = outcome
      const files = outcome.files.map((f) => ({ file: bounded(f.file), writeBps: f.writeBps, readBps: f.readBps }))
      return { manager, name, writeBps, readBps, files, longestWaitMs: longestWaitNs / NS_PER_MS }
    }
  } catch (e) {
    process.stderr.write(`sluice: ${manager} failed: ${e instanceof Error ? e.message : String(e)}\n`)
  }
  return { manager, name: NAMES[manager], writeBps: null, readBps: null, files: [], longestWaitMs: null }
}

const task = workerData as CompareTask
parentPort?.postMessage(task.managers.map((manager) => run(task, manager)))
