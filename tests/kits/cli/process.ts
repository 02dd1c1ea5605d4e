/** Runs the `sluice` command as a separate process, for tests that need one. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { tempFolder } from '../../node/temp-folder.ts'
import type { Ended } from './in-process.ts'

/** The entry file. */
export const LAUNCHER = join(import.meta.dirname, '../../../electron/cli/sluice.mjs')

const children = new Set<ChildProcessWithoutNullStreams>()
process.on('exit', killAll)

/** Kills the started processes that have not ended. */
export function killAll(): void {
  for (const child of children) child.kill('SIGKILL')
}

export interface RunningProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  /** Standard output so far. */
  said(): string
}

/** Starts a process whose standard input stays open. @param kept  'drop': its output is not stored. */
export function startProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  kept: 'keep' | 'drop' = 'keep',
): RunningProcess {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    stdio: 'pipe',
    cwd: tempFolder(),
    env: { ...process.env, ...env },
  })
  children.add(child)
  child.stdin.on('error', () => undefined)
  const out: Buffer[] = []
  const err: Buffer[] = []
  if (kept === 'keep') child.stdout.on('data', (b: Buffer) => out.push(b))
  child.stderr.on('data', (b: Buffer) => err.push(b))
  const ended = once(child, 'close').then(([code]): Ended => {
    children.delete(child)
    return { code: code as number | null, stdout: String(Buffer.concat(out)), stderr: String(Buffer.concat(err)) }
  })
  return { child, ended, said: () => String(Buffer.concat(out)) }
}

/** Runs a command to its end, with `input` at its standard input. */
export function sluiceProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input: string | Buffer = '',
): Promise<Ended> {
  const { child, ended } = startProcess(args, env)
  child.stdin.end(input)
  return ended
}
