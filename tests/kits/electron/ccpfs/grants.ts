/** Uncontended lock grants a second of a ccPFS server over a Unix socket, beside an echo server. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { lockRange } from '#core/seqdlm/ranges.ts'
import { WireWriter } from '#electron/ccpfs/wire/bytes.ts'
import { FrameSplitter } from '#electron/ccpfs/wire/frames.ts'
import { FRAME_MAX, HEAD_BYTES, writeMessage, type WireMessage } from '#electron/ccpfs/wire/messages.ts'
import { Peer } from '#electron/ccpfs/wire/peer.ts'

/** Requests under way at a time. */
const PIPELINE = 256
/** Grants after which the connection is considered warm. */
const WARM_UP = 20_000
const RESOURCES = 1024

const notStarted = (why: string): Result<never> =>
  fail({ code: 'CCPFS_BENCH', what: 'The measurement did not start', why })

async function ready(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.stdout?.once('data', (text: Buffer) => resolve(text.toString() === 'ready\n' ? undefined : text.toString()))
    child.once('exit', () => resolve('its process ended'))
  })
}

/** Runs `act` beside a process of grants-process.ts; its socket is in a private folder. */
async function beside<T>(
  args: (folder: string) => readonly string[],
  act: (path: string, folder: string) => Promise<Result<T>>,
): Promise<Result<T>> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ccpfs-'))
  const path = join(folder, 's')
  const [mode = '', ...rest] = args(folder)
  const child = spawn(process.execPath, [join(import.meta.dirname, 'grants-process.ts'), mode, path, ...rest], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const trouble = await ready(child)
    return trouble === undefined ? await act(path, folder) : notStarted(trouble)
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function connected(path: string): Promise<Socket> {
  const socket = connect(path)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return socket
}

const HELLO: WireMessage = {
  kind: 'hello',
  role: 'client',
  client: 1,
  fileSystem: 1,
  server: 0,
  servers: 1,
  isReturning: false,
  name: 'bench',
}

const lockRequest = (reqId: number): WireMessage => ({
  kind: 'lock-request',
  resource: reqId % RESOURCES,
  reqId,
  range: lockRange(0, 4095),
  mode: 'NBW',
})

/** Lock requests granted and released by one client, pipelined, per second. */
export function grantsPerSecond(grants: number): Promise<Result<number>> {
  return beside(
    (folder) => ['server', join(folder, 'data'), 'SeqDLM'],
    async (path) => {
      const socket = await connected(path)
      const began = await new Promise<{ readonly ms: number } | string>((resolve) => {
        let reqId = 0
        let granted = 0
        let startMs = 0
        const peer = new Peer(socket, {
          onMessage: (message) => {
            if (message.kind === 'welcome') for (let i = 0; i < PIPELINE; i++) peer.send(lockRequest(++reqId))
            if (message.kind !== 'lock-grant') return
            granted++
            const { resource, lockId } = message
            peer.send({ kind: 'release', resource, lockId })
            if (granted === WARM_UP) startMs = performance.now()
            if (granted === WARM_UP + grants) resolve({ ms: performance.now() - startMs })
            else peer.send(lockRequest(++reqId))
          },
          onEnd: resolve,
        })
        peer.send(HELLO)
      })
      socket.destroy()
      return typeof began === 'string' ? notStarted(began) : ok((grants / began.ms) * 1000)
    },
  )
}

/** The same frames to a server that returns them, per second. */
export function echoesPerSecond(count: number): Promise<Result<number>> {
  return beside(
    () => ['echo'],
    async (path) => {
      const socket = await connected(path)
      const out = new WireWriter()
      const frames = new FrameSplitter(HEAD_BYTES, FRAME_MAX)
      const flush = (): void => {
        for (const part of out.take()) socket.write(part)
      }
      let echoed = 0
      let startMs = 0
      const ms = await new Promise<number>((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          frames.push(chunk, () => {
            // A request and a release come back, where a server sends one grant.
            if (++echoed % 2 === 0) {
              if (echoed === 2 * WARM_UP) startMs = performance.now()
              if (echoed === 2 * (WARM_UP + count)) resolve(performance.now() - startMs)
              writeMessage(out, lockRequest(echoed))
              writeMessage(out, { kind: 'release', resource: 1, lockId: echoed })
            }
            return true
          })
          flush()
        })
        for (let i = 1; i <= PIPELINE; i++) {
          writeMessage(out, lockRequest(i))
          writeMessage(out, { kind: 'release', resource: 1, lockId: i })
        }
        flush()
      })
      socket.destroy()
      return ok((count / ms) * 1000)
    },
  )
}
