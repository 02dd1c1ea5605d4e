/** Programs that run with a preloaded library: on the terminal of the command, which ends with their status. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { stop } from './output.ts'

/** Starts a program with these variables, passes signals on, and exits with its status. */
export function runPreloaded(program: string, args: readonly string[], env: Readonly<Record<string, string>>): void {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  child.on('error', (e) => stop({ code: 'NOT_STARTED', what: `${program} could not be started`, why: e.message }, 127))
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)))
}
