/** Queries of a daemon's state: of servers as an observer, of a client daemon through its door. */
import { connect } from 'node:net'
import { fail, formatFailure, ok, type Result } from '#core/base/result.ts'
import { printAddress, type Address } from '#electron/wire/address.ts'
import { connectAuthenticated } from '#electron/wire/connect.ts'
import type { PeerSecret } from '#electron/wire/peer-auth.ts'
import { privateSocket } from '#electron/wire/private-socket.ts'
import { DOOR } from './door.ts'
import { PURPOSE, thisProcess } from './places.ts'
import { WireWriter } from './wire/bytes.ts'
import { FrameSplitter } from './wire/frames.ts'
import { FRAME_MAX } from './wire/messages.ts'
import { Peer } from './wire/peer.ts'

const TIMEOUT_MS = 10_000

const unanswered = (at: string, why: string): Result<never> =>
  fail({
    code: 'CCPFS_NO_ANSWER',
    what: `The daemon at ${at} did not answer`,
    why,
    next: 'Check the address, and that it runs.',
  })

function parsed(at: string, text: Uint8Array): Result<unknown> {
  try {
    return ok(JSON.parse(Buffer.from(text).toString('utf8')) as unknown)
  } catch {
    return unanswered(at, 'its answer is not valid')
  }
}

/** Sends a query (`status`, `events N`) to a metadata server or a lock and data server. @returns CCPFS_NO_ANSWER. */
export function queryServer(address: Address, secret: PeerSecret | undefined, text: string): Promise<Result<unknown>> {
  const at = printAddress(address)
  return new Promise((resolve) => {
    let trouble = 'it did not answer in time'
    const opened = connectAuthenticated(
      address,
      { purpose: PURPOSE, secret },
      {
        onOpen: (socket) => {
          const peer = new Peer(socket, {
            onMessage: (message) => {
              if (message.kind === 'welcome') peer.send({ kind: 'query', reqId: 1, text })
              else if (message.kind === 'bye') trouble = message.why
              else if (message.kind === 'answer') {
                socket.destroy()
                resolve(parsed(at, message.text))
              }
            },
            onEnd: () => resolve(unanswered(at, trouble)),
          })
          peer.send({
            kind: 'hello',
            role: 'observer',
            client: 0,
            fileSystem: 0,
            server: 0,
            servers: 0,
            isReturning: false,
            name: thisProcess(),
          })
        },
        onTrouble: (why) => (trouble = why),
        onClose: () => resolve(unanswered(at, trouble)),
      },
    )
    if (!opened.ok) resolve(unanswered(at, formatFailure(opened.error)))
    else opened.value.setTimeout(TIMEOUT_MS, () => opened.value.destroy())
  })
}

/** Reads the state of a client daemon. @returns CCPFS_NO_ANSWER, and failures of `privateSocket`. */
export function queryClient(path: string): Promise<Result<unknown>> {
  const found = privateSocket(path)
  if (!found.ok) return Promise.resolve(found)
  return new Promise((resolve) => {
    const socket = connect(path)
    const frames = new FrameSplitter(8, FRAME_MAX)
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
    socket.on('connect', () => {
      const to = new WireWriter(64)
      const mark = to.beginLength()
      to.u32(1)
      to.u8(DOOR.status)
      to.endLength(mark)
      for (const part of to.take()) socket.write(part)
    })
    socket.on('data', (chunk: Buffer) => {
      const fault = frames.push(chunk, (buffer, start, end) => {
        socket.destroy()
        resolve(parsed(path, buffer.subarray(start + 8, end)))
        return false
      })
      if (fault !== undefined) socket.destroy()
    })
    let why = 'it did not answer in time'
    socket.on('error', (e) => (why = e.message))
    socket.on('close', () => resolve(unanswered(path, why)))
  })
}
