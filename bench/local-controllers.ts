/**
 * Separate process for electron/padll/hierarchy.bench.ts: N local controllers, each with its own connection to the global one
 * and one stage in memory. `node local-controllers.ts SOCKET N [echo]`; with `echo` N connections that echo their input.
 */
import { connect } from 'node:net'
import { LocalController } from '#core/padll/control/local-controller.ts'
import type { GlobalToLocal, LocalToGlobal, LocalToStage, StageToLocal } from '#core/padll/control/messages.ts'
import { globalToLocal, localToGlobal } from '#core/padll/wire/hierarchy-wire.ts'
import { clockFrom, Driver } from '#electron/padll/driver.ts'
import { WireSocket } from '#electron/padll/wire-socket.ts'

const STAGE = 1
const now = clockFrom(performance.now())

/** Varying demand, so that every cycle has rates to enforce. */
const load = (i: number, round: number): number => 1000 + ((i * 37 + round * 611) % 4000)

/** Stage without a program: reports its whole demand as served, and acknowledges other requests. */
function answer(i: number, round: number, m: LocalToStage): StageToLocal | undefined {
  if (m.kind === 'collect') {
    const n = load(i, round)
    const counts = { arrived: n, served: n, waited: 0, queued: 0, throttledNs: 0 }
    return { kind: 'counts', request: m.request, channels: [{ channel: 1000, object: 1, scope: 'meta_op', ...counts }] }
  }
  return 'request' in m ? { kind: 'ack', request: m.request } : undefined
}

function local(path: string, i: number): void {
  let round = 0
  const later = (act: (nowNs: number) => void): void => queueMicrotask(() => driver.with(act))
  const controller = new LocalController({
    local: `node${i}`,
    hostname: `node${i}`,
    io: {
      toStage: (_link, m) => {
        const said = answer(i, m.kind === 'collect' ? ++round : round, m)
        if (said) later((nowNs) => controller.onStageMessage(STAGE, said, nowNs))
      },
      closeStage: () => undefined,
      toGlobal: (_link, m) => void wire.send(m),
      closeGlobal: () => undefined,
    },
  })
  const driver = new Driver(controller, now)
  const socket = connect(path)
  const wire = new WireSocket<GlobalToLocal, LocalToGlobal>(socket, globalToLocal, localToGlobal, {
    onMessage: (m) => driver.with((nowNs) => controller.onGlobalMessage(1, m, nowNs)),
    onEnd: () => process.exit(0),
  })
  const identity = { job: `job${i % 8}`, instance: i, pid: i + 1, ppid: 1, hostname: `node${i}`, user: 'u' }
  driver.with((nowNs) => {
    controller.onStageOpen(STAGE, nowNs)
    controller.onStageMessage(STAGE, { kind: 'hello', protocol: 1, identity }, nowNs)
  })
  socket.once('connect', () => driver.with((nowNs) => controller.onGlobalOpen(1, nowNs)))
}

const [path = '', count = '1', echo] = process.argv.slice(2)
for (let i = 0; i < Number(count); i++) {
  if (echo !== 'echo') local(path, i)
  else {
    const socket = connect(path)
    socket.on('error', () => process.exit(1)).on('close', () => process.exit(0))
    socket.pipe(socket)
  }
}
