/** Validation of a run's task before it starts. */
import { checkLoopOptions, DEFAULT_LOOP_OPTIONS } from '../adaptbf/loop-options.ts'
import { checkPeriod } from '../adaptbf/period.ts'
import { fail, ok, type Result } from '../base/result.ts'
import { NS_PER_MS } from '../base/units.ts'
import { CONTROLLER_NAMES } from '../controllers/registry.ts'
import type { RunTask } from './run-task.ts'

/** Longest run, s: virtual time stays exact up to it, and a scenario defines nothing later. */
const SECONDS_MAX = 1e6
const MODEL = { backlog: true, deviceBusy: true } as const

/** Returns the task, or the reason that it cannot be run. */
export function checkRun(task: RunTask): Result<RunTask, string> {
  const { seconds, seed, variant } = task
  const { maxRate, periodMs, onS, controller, adaptbf } = variant
  if (!(seconds > 0 && seconds <= SECONDS_MAX)) return fail(`a length of ${seconds} s; expected up to ${SECONDS_MAX}`)
  if (!Number.isSafeInteger(seed)) return fail(`the seed ${seed} is not a whole number`)
  if (!CONTROLLER_NAMES.includes(controller)) return fail(`unknown controller ${String(controller)}`)
  if (!(onS >= 0 && Number.isFinite(onS))) return fail(`the variant cannot start at ${onS} s`)
  if (maxRate !== null && !(maxRate > 0 && maxRate <= 1e9)) {
    return fail(`a maximum token rate of ${maxRate} RPC/s; expected above 0 and up to 1e9`)
  }
  const period = periodMs === null ? undefined : checkPeriod(periodMs * NS_PER_MS)
  if (period && !period.ok) return fail(`${period.error.what}: ${period.error.why ?? ''}`)
  const options = checkLoopOptions({ ...DEFAULT_LOOP_OPTIONS, ...adaptbf }, MODEL)
  return options.ok ? ok(task) : fail(`${options.error.what}: ${options.error.why ?? ''}`)
}
