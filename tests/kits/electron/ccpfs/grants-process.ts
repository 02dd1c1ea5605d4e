/**
 * Program that grants.ts runs, at a Unix socket: `echo PATH` returns what it reads; `server PATH FOLDER POLICY` is a lock and
 * data server. It prints a line when it is ready.
 */
import { createServer } from 'node:net'
import { formatFailure } from '#core/base/result.ts'
import { POLICIES, SEQDLM } from '#core/seqdlm/policy.ts'
import { startServer } from '#electron/ccpfs/server.ts'

const [mode, path = '', data = '', policy = ''] = process.argv.slice(2)
if (mode === 'echo') {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  server.listen(path, () => process.stdout.write('ready\n'))
} else {
  const started = await startServer({
    address: { path },
    data,
    policy: POLICIES.find((p) => p.name === policy) ?? SEQDLM,
  })
  process.stdout.write(started.ok ? 'ready\n' : `${formatFailure(started.error)}\n`)
}
