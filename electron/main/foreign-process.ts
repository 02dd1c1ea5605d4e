/**
 * Starts the process that reads untrusted files for the host, which cannot start one itself: a packaged program is not a Node
 * executable.
 */
import { utilityProcess } from 'electron'
import { foreignEnvironment, FOREIGN_FLAGS } from '#electron/foreign/node-process.ts'
import type { StartedProcess } from '#electron/foreign/processes.ts'

export function startUtility(program: string): StartedProcess {
  const child = utilityProcess.fork(program, [], {
    serviceName: 'sluice-foreign',
    // Its output could be text of the file.
    stdio: 'ignore',
    execArgv: [...FOREIGN_FLAGS],
    env: foreignEnvironment(),
  })
  return {
    // Set from the start.
    get pid() {
      return child.pid
    },
    send: (message) => child.postMessage(message),
    onMessage: (listener) => void child.on('message', listener),
    onEnd: (listener) => void child.once('exit', (code) => listener(`code ${code}`)),
    kill() {
      // kill() only asks the process to end, which a loop inside SQLite ignores.
      try {
        if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL')
      } catch {
        // Already ended.
      }
      child.kill()
    },
  }
}
