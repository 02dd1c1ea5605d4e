/** Starts the process that reads files from elsewhere, under Node. */
import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundledPath } from '../files/resources.ts'
import type { StartedProcess } from './processes.ts'
import { HEAP_MIB } from './task.ts'

/** The program: its source in a checkout, its bundle in a build. */
function programFile(): string {
  const source = join(import.meta.dirname, 'process.ts')
  return existsSync(source) ? source : bundledPath('foreign-process.js')
}

/** Nothing of the environment but what Node and temporary files need: no agent's socket, no token, no option for Node. */
const KEPT = ['TMPDIR', 'TMP', 'TEMP', 'SystemRoot', 'NODE_COMPILE_CACHE'] as const

export function foreignEnvironment(from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
}

export const FOREIGN_FLAGS: readonly string[] = [`--max-old-space-size=${HEAP_MIB}`]

/** @param program  another one (tests). */
export function startNodeProcess(program = programFile()): StartedProcess {
  const child = fork(program, [], {
    execArgv: [...FOREIGN_FLAGS],
    env: foreignEnvironment(),
    // What it prints could be text of the file.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const kill = (): void => {
    child.kill('SIGKILL')
    // It is not waited for: what it said by then counts.
    if (child.connected) child.disconnect()
    child.unref()
  }
  // Busy in SQLite it would not notice that nobody waits for it.
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let isOver = false
  return {
    pid: child.pid,
    send: (message) => void child.send(message),
    onMessage: (listener) => void child.on('message', listener),
    onEnd: (listener) => {
      const over = (why: string): void => {
        if (!isOver) listener(why)
        isOver = true
      }
      child.on('error', (e) => over(e.message))
      child.on('exit', (code, signal) => over(signal === null ? `code ${code}` : signal))
    },
    kill,
  }
}
