/** Unix socket of the emulator for stand-in programs. Only its user may connect. */
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { fail, formatFailure, ok, type Result } from '#core/base/result.ts'
import type { ExecResult } from '../base/connection.ts'
import type { Emulation } from './emulation.ts'
import { decodeRequest, encodeAnswer } from './wire.ts'

/** Exit code of the emulator, not of the program that the stand-in replaces. */
const REFUSED = 255
/** Time limit for a request; stand-ins send theirs at once. */
const REQUEST_MS = 10_000

export interface StandInSocket {
  stop(): void
}

function serve(emulation: Emulation, socket: Socket): void {
  const end = (answer: ExecResult): void => void socket.end(encodeAnswer(answer))
  const refuse = (why: string): void => end({ code: REFUSED, stdout: '', stderr: `sluice emulate: ${why}\n` })
  let bytes: Buffer = Buffer.alloc(0)
  let isAnswered = false
  socket.setTimeout(REQUEST_MS, () => socket.destroy())
  socket.on('error', () => undefined)
  // The rest of a truncated request never arrives.
  socket.on('end', () => {
    if (!isAnswered) socket.destroy()
  })
  socket.on('data', (chunk: Buffer) => {
    if (isAnswered) return
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    const request = decodeRequest(bytes)
    if (request === undefined) return
    isAnswered = true
    if (typeof request === 'string') return refuse(request)
    const answer = emulation.answer(request)
    if (answer.ok) end(answer.value)
    else refuse(formatFailure(answer.error))
  })
}

/** True if the socket has a listener. */
const isTaken = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => (socket.destroy(), resolve(true))).once('error', () => resolve(false))
  })

const refused = (path: string, why: string): Result<never> =>
  fail({ code: 'EMULATE_SOCKET', what: `The socket ${path} cannot be made`, why, next: 'Name another path.' })

/** Opens the socket; one that an emulator left behind is replaced. Failures: EMULATE_SOCKET. */
export async function openSocket(emulation: Emulation, path: string): Promise<Result<StandInSocket>> {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && !found.isSocket()) return refused(path, 'a file of this name exists')
    if (found && (await isTaken(path))) return refused(path, 'another emulator is listening on it')
    if (found) rmSync(path)
  } catch (e) {
    return refused(path, e instanceof Error ? e.message : String(e))
  }
  const open = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    serve(emulation, socket)
  })
  return new Promise((resolve) => {
    server.once('error', (e) => resolve(refused(path, e.message)))
    // Prevents connections of other users before its mode is set.
    const mask = process.umask(0o177)
    server.listen(path, () => {
      chmodSync(path, 0o600)
      resolve(
        ok({
          stop: () => {
            server.close()
            for (const socket of open) socket.destroy()
            rmSync(path, { force: true })
          },
        }),
      )
    })
    // The file exists once listen returns.
    process.umask(mask)
  })
}
