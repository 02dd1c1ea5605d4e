/** Starts the process that reads foreign files, under Node. */
import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundledPath } from '../files/resources.ts'
import type { StartedProcess } from './processes.ts'
import { HEAP_MIB } from './task.ts'

/** Path of the program: source in a checkout, bundle in a build. */
function programFile(): string {
  const source = join(import.meta.dirname, 'process.ts')
  return existsSync(source) ? source : bundledPath('foreign-process.js')
}

/**
 * Environment variables passed on, only those that Node and temporary files need: no agent socket, no token, no options
 * for Node.
 */
const PASSED_ON = ['TMPDIR', 'TMP', 'TEMP', 'SystemRoot', 'NODE_COMPILE_CACHE'] as const

export function foreignEnvironment(from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(PASSED_ON.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
}

export const FOREIGN_FLAGS: readonly string[] = [`--max-old-space-size=${HEAP_MIB}`]

/** @param program  another program (tests). */
export function startNodeProcess(program = programFile()): StartedProcess {
  const child = fork(program, [], {
    execArgv: [...FOREIGN_FLAGS],
    env: foreignEnvironment(),
    // Its output could contain text of the file.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const kill = (): void => {
    child.kill('SIGKILL')
    // Not waited for: messages received so far are still processed.
    if (child.connected) child.disconnect()
    child.unref()
  }
  // While busy in SQLite the process would not notice that its parent is gone.
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
