/** Programs under the door of ccPFS, and the interface of a daemon that the suite of the door runs against. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { tmpdir } from 'node:os'
import { doorEnvironment, doorLibrary, type DoorSettings } from '#electron/ccpfs/door-library.ts'

/** The library, or the reason why it is missing; a missing compiler is a failure where all parts are required. */
export const library = await doorLibrary()
export const noDoor = library.ok ? '' : library.error.what
if (noDoor !== '' && process.env.CI === 'true') throw new Error(noDoor)
if (noDoor !== '') process.stderr.write(`skipped, no door: ${noDoor}\n`)

/** The mount does not exist: nothing can reach the files but the door. */
export const MOUNT = '/sluice-ccpfs-under-test'

export interface DoorDaemon {
  readonly socket: string
  readonly close: () => Promise<void>
}

export interface DaemonKind {
  readonly name: string
  /** Starts a daemon without files, with its socket in this folder. */
  readonly start: (folder: string) => Promise<DoorDaemon>
}

const folders: string[] = []
process.on('exit', () => folders.forEach((f) => rmSync(f, { recursive: true, force: true })))

/** Folder with a short name: socket paths are short, and the linker accepts no spaces. */
export function shortFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-door-'))
  folders.push(folder)
  return folder
}

/** The interpreter of door-trial.c, compiled once. */
export function doorTrial(): string {
  const file = join(shortFolder(), 'trial')
  if (library.ok) execFileSync('cc', ['-O1', '-pthread', '-o', file, join(import.meta.dirname, 'door-trial.c')])
  return file
}

export const hasProgram = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running extends Partial<Omit<DoorSettings, 'socket'>> {
  readonly stdin?: string
  readonly cwd?: string
  /** Preloaded after the door, or before it with `first`. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program; with a socket under the door, without one on its own. */
export function runProgram(
  socket: string | undefined,
  command: string,
  args: readonly string[],
  { stdin = '', cwd, env = {}, ...settings }: Running = {},
): Promise<Ended> {
  let door: Record<string, string> = {}
  if (socket !== undefined) {
    if (!library.ok) throw new Error(library.error.what)
    const made = doorEnvironment({ library: library.value, mount: MOUNT, socket, timeoutMs: 20_000, ...settings }, '')
    if (!made.ok) throw new Error(made.error.what)
    door = made.value
  }
  const child = spawn(command, args, { cwd, env: { ...process.env, LC_ALL: 'C', ...door, ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('latin1').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('latin1').on('data', (text: string) => (stderr += text))
  // A program may end without reading its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}
