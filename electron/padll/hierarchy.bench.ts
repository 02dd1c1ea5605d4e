/**
 * Control cycle over real sockets: collect, compute (PSFA), enforce, from the first byte sent to the last answer, with 1 to 1,000
 * local controllers in a separate process. Median of the cycles of a run. In the paper (V-D, Fig. 10) controllers are on separate
 * nodes. Baseline: the same number of sockets and about as many bytes, sent to all and echoed twice, without any controller.
 */
import { median } from '#core/base/statistics.ts'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GlobalController, type GlobalSettings } from '#core/padll/control/global-controller.ts'
import type { GlobalToLocal, LocalToGlobal } from '#core/padll/control/messages.ts'
import { parseHousekeeping } from '#core/padll/rules/housekeeping.ts'
import { globalToLocal, localToGlobal } from '#core/padll/wire/hierarchy-wire.ts'
import type { Bench, Growth } from '../../bench/measure.ts'
import { clockFrom, Driver } from './driver.ts'
import { USUAL_HOUSEKEEPING } from './global-config.ts'
import { Links } from './links.ts'
import { WireSocket } from './wire-socket.ts'

const SIZES = [1, 10, 40, 100, 400, 1000] as const
const PAPER_MS: Readonly<Record<number, number>> = { 1: 0.162, 40: 0.664, 1000: 11.11 }
const cyclesOf = (n: number): number => (n >= 400 ? 9 : 21)
const ECHO_BYTES = 120
const START_MS = 30_000

/** N connections from a separate process; `act` gets each as it arrives. */
async function withLocals<T>(
  n: number,
  mode: readonly string[],
  onSocket: (socket: Socket) => void,
  act: () => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const path = join(folder, 's')
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  let child: ChildProcess | undefined
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  try {
    await new Promise<void>((resolve) => server.listen(path, resolve))
    child = spawn(process.execPath, [
      join(import.meta.dirname, '../../bench/local-controllers.ts'),
      path,
      String(n),
      ...mode,
    ])
    child.stderr?.pipe(process.stderr)
    return await act()
  } finally {
    for (const socket of sockets) socket.destroy()
    child?.kill('SIGKILL')
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Median cycle with n local controllers, ms. */
async function cycle(n: number): Promise<number> {
  const links = new Links<WireSocket<LocalToGlobal, GlobalToLocal>>()
  const joined = new Set<number>()
  const times: number[] = []
  let began = 0
  let last = 0
  let request = -1
  let done = (): void => undefined
  const settings: Partial<GlobalSettings> = {
    algorithm: 'psfa',
    limits: new Map([['meta_op', 1000 * n]]),
    // Slack between two cycles, so that none begins before the last one is over.
    intervalNs: Math.max(10, n / 10) * 1e6,
  }
  const controller = new GlobalController({
    controller: 'bench',
    startedMs: Date.now(),
    startedNs: 0,
    housekeeping: parseHousekeeping(USUAL_HOUSEKEEPING).rules,
    settings,
    io: {
      send: (link, m) => {
        if (m.kind === 'collect' && m.request !== request && performance.now() - began > 1) {
          if (joined.size === n && last > began) times.push(last - began)
          if (times.length > cyclesOf(n)) done()
          began = performance.now()
        }
        if ('request' in m) request = m.request
        links.get(link)?.send(m)
      },
      close: (link) => links.get(link)?.end('closed'),
    },
  })
  const driver = new Driver(controller, clockFrom(performance.now()))
  const onSocket = (socket: Socket): void => {
    const link = links.next()
    const wire = new WireSocket(socket, localToGlobal, globalToLocal, {
      onMessage: (m) => {
        driver.with((nowNs) => controller.onMessage(link, m, nowNs))
        if (m.kind === 'stage-joined' || (m.kind === 'hello' && m.stages.length > 0)) joined.add(link)
        last = performance.now()
      },
      onEnd: () => driver.with((nowNs) => controller.onGone(link, nowNs)),
    })
    links.set(link, wire)
    driver.with((nowNs) => controller.onOpen(link, nowNs))
  }
  const policies = Array.from({ length: 8 }, (_, i) => `1 0 demand job${i} meta_op ${100 * n + i}`).join('\n')
  controller.setPolicies(policies, 0)
  driver.wake()
  try {
    return await withLocals(n, [], onSocket, async () => {
      await new Promise<void>((resolve, reject) => {
        done = resolve
        const given = `${n} local controllers made ${times.length} cycles`
        setTimeout(() => reject(new Error(given)), START_MS).unref()
      })
      return median(times.slice(1))
    })
  } finally {
    driver.stop()
  }
}

/** The same sockets without a controller: bytes to all and back, twice, ms. */
async function echo(n: number): Promise<number> {
  const sockets: Socket[] = []
  let waiting = n
  let got = (): void => undefined
  const onSocket = (socket: Socket): void => {
    let bytes = 0
    socket.on('data', (chunk) => {
      bytes += chunk.length
      if (bytes < ECHO_BYTES) return
      bytes = 0
      if (--waiting === 0) got()
    })
    sockets.push(socket)
    if (sockets.length === n) got()
  }
  const next = (): Promise<void> => new Promise((resolve) => (got = resolve))
  const message = Buffer.alloc(ECHO_BYTES, 1)
  return withLocals(n, ['echo'], onSocket, async () => {
    await next()
    const times: number[] = []
    for (let i = 0; i < cyclesOf(n); i++) {
      const began = performance.now()
      for (let half = 0; half < 2; half++) {
        waiting = n
        const all = next()
        for (const socket of sockets) socket.write(message)
        await all
      }
      times.push(performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return median(times)
  })
}

export const benches: readonly (Bench | Growth)[] = [
  ...SIZES.map((n) => ({
    id: `padll.cycle.${n}-locals`,
    unit: 'ms',
    run: () => cycle(n),
    baseline: () => echo(n),
    note: 'collect, compute, enforce over sockets; all local controllers are in one other process',
    beside: 'the same sockets, bytes to all and back twice',
    ...(PAPER_MS[n] === undefined
      ? {}
      : {
          paper: `${PAPER_MS[n]} ms, controllers on separate nodes (PADLL V-D, Fig. 10)`,
        }),
    limit:
      'Two messages each way and local controller, a system call at either end of each; one process answers for all of them.',
    runs: 5,
  })),
  {
    id: 'padll.cycle.growth',
    unit: 'power',
    sizes: [10, 100, 1000],
    cost: (_: unknown, n: number) => cycle(n),
    axis: 'size',
    note: 'cycle over local controllers; 1 is linear; the bound is our own target',
    limit: 'Below 1: a cycle has a fixed part, and messages that come together are read together.',
    must: { most: 1.1 },
    runs: 5,
  },
]
