/** Starts the process that reads files from elsewhere for the host, which cannot start one itself: a packaged program is no Node. */
import { utilityProcess } from 'electron'
import { foreignEnvironment, FOREIGN_FLAGS } from '#electron/foreign/node-process.ts'
import type { StartedProcess } from '#electron/foreign/processes.ts'

export function startUtility(program: string): StartedProcess {
  const child = utilityProcess.fork(program, [], {
    serviceName: 'sluice-foreign',
    // What it prints could be text of the file.
    stdio: 'ignore',
    execArgv: [...FOREIGN_FLAGS],
    env: foreignEnvironment(),
  })
  return {
    // It has one from its start on.
    get pid() {
      return child.pid
    },
    send: (message) => child.postMessage(message),
    onMessage: (listener) => void child.on('message', listener),
    onEnd: (listener) => void child.once('exit', (code) => listener(`code ${code}`)),
    kill() {
      // Electron asks it to end; a loop inside SQLite does not hear that.
      try {
        if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
      child.kill()
    },
  }
}
