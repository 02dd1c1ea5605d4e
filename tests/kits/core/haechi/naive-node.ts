/**
 * Reference implementation of a data node, event by event: a heap, an explicit FIFO queue at the node's NIC, an event for each
 * arrival, issue, arrival at the node, end of service and completion. Slow and simple: the lookahead is compared with it. Engines,
 * monitor and memory are the same.
 *
 * At one instant: completions, then messages and timers, then NICs and arrivals by client index.
 */
import { randomStream } from '#core/base/random.ts'
import { invariant } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { MonitorEvent } from '#core/haechi/monitor-events.ts'
import { type EnginePort, QosEngine } from '#core/haechi/qos-engine.ts'
import { ControlPlane, type ControlledClient } from '#core/haechi/sim/control-plane.ts'
import { ServiceTimes } from '#core/haechi/sim/fabric.ts'
import type { NodeSetup } from '#core/haechi/sim/setup.ts'
import { RequestSource } from '#core/haechi/workloads/request-source.ts'

interface Event {
  readonly at: number
  readonly rank: number
  readonly tie: number
  readonly seq: number
  readonly run: () => void
}

interface Operation {
  readonly serviceNs: number
  readonly arrivesAt: number
  readonly done: () => void
}

interface Posted {
  /** 0 for a data I/O, otherwise the amount of the FAA. */
  readonly take: number
  readonly postedAt: number
}

const COMPLETION = 0
const CONTROL = 1
const OWN = 2

class NaiveClient implements ControlledClient {
  readonly index: number
  readonly engine: QosEngine
  readonly isAlive = true
  readonly nic: ServiceTimes
  readonly posted: Posted[] = []
  nicFreeAt = 0
  nicEventAt = -1
  completed = 0
  latencyNs = 0

  constructor(index: number, setup: NodeSetup, node: NaiveNode) {
    this.index = index
    this.nic = new ServiceTimes(setup.profile.localIops)
    const localTokens = (setup.profile.localIops * setup.settings.periodNs) / NS_PER_S
    const port: EnginePort = {
      postIo: (n) => {
        for (let i = 0; i < n; i++) node.post(this, { take: 0, postedAt: node.now })
      },
      faa: (take) => node.post(this, { take, postedAt: node.now }),
      writeReport: (report) => node.control.report(this, report),
    }
    this.engine = new QosEngine(setup.settings, port, undefined, localTokens)
  }

  sync(): void {}
  settled(): void {}
}

export class NaiveNode {
  now = 0
  readonly control: ControlPlane
  readonly clients: NaiveClient[] = []
  readonly events: MonitorEvent[] = []
  readonly #setup: NodeSetup
  readonly #list: Event[] = []
  #seq = 0
  readonly #waiting: Operation[] = []
  #isServing = false
  readonly #station: ServiceTimes

  /** Supports only clients with QoS; no noise, no capacity changes. */
  constructor(setup: NodeSetup) {
    this.#setup = setup
    this.#station = new ServiceTimes(setup.profile.globalIops)
    const { settings, profile, fabric, seed, slots } = setup
    const at = (when: number, run: () => void): void => this.#at(when, CONTROL, 0, run)
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const node = this
    this.control = new ControlPlane({
      settings,
      profile,
      fabric,
      seed,
      slots,
      scheduler: {
        get now() {
          return node.now
        },
        at,
      },
      observer: { event: (event) => void this.events.push(event), period: () => {} },
    })
    setup.clients.forEach((c, index) => {
      const client = new NaiveClient(index, setup, this)
      this.clients.push(client)
      invariant(
        this.control.join(client, c.reservation, c.limit ?? null).ok,
        'the clients of a comparison are admitted',
      )
      const phaseNs = Math.min(settings.periodNs, fabric.sendNs + slots * fabric.sendEachNs)
      const random = randomStream(seed, `haechi/requests/${index}`)
      const source = new RequestSource(c.workload, random, { nowNs: 0, periodNs: settings.periodNs, phaseNs })
      const arrive = (): void => {
        const n = source.take()
        if (source.drops) client.engine.dropQueue()
        client.engine.onRequest(n)
        this.#at(source.nextAt, OWN, index, arrive)
      }
      this.#at(source.nextAt, OWN, index, arrive)
    })
    this.control.start()
  }

  runUntil(until: number): void {
    for (let next = this.#list[0]; next && next.at <= until; next = this.#list[0]) {
      this.#pop()
      this.now = next.at
      next.run()
    }
    this.now = until
  }

  post(client: NaiveClient, posted: Posted): void {
    client.posted.push(posted)
    // It waits behind those already waiting: issued when the NIC gets its turn at this instant, not before.
    if (client.posted.length === 1) this.#issue(client)
  }

  #issue(client: NaiveClient): void {
    const first = client.posted[0]
    if (first === undefined) return
    if (client.nicFreeAt > this.now) {
      if (client.nicEventAt === client.nicFreeAt) return
      client.nicEventAt = client.nicFreeAt
      this.#at(client.nicFreeAt, OWN, client.index, () => this.#issue(client))
      return
    }
    client.posted.shift()
    client.nicFreeAt = this.now + client.nic.next()
    const { delayNs } = this.#setup.fabric
    const arrivesAt = this.now + delayNs
    const done = (): void => {
      if (first.take > 0) this.control.faa(client, first.take, this.now)
      else this.#at(this.now + delayNs, COMPLETION, 0, () => this.#complete(client, first))
    }
    const operation = { serviceNs: this.#station.next(), arrivesAt, done }
    this.#at(arrivesAt, CONTROL, 0, () => this.#arrived(operation))
    this.#issue(client)
  }

  #arrived(operation: Operation): void {
    this.#waiting.push(operation)
    if (!this.#isServing) this.#serve()
  }

  #serve(): void {
    const operation = this.#waiting.shift()
    this.#isServing = operation !== undefined
    if (operation === undefined) return
    this.#at(this.now + operation.serviceNs, COMPLETION, 0, () => {
      operation.done()
      this.#serve()
    })
  }

  #complete(client: NaiveClient, { postedAt }: Posted): void {
    client.completed++
    client.latencyNs += this.now - postedAt
    client.engine.onCompletion(1)
  }

  #at(at: number, rank: number, tie: number, run: () => void): void {
    if (at === Infinity) return
    const list = this.#list
    const event = { at, rank, tie, seq: this.#seq++, run }
    let i = list.length
    list.push(event)
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!before(event, list[parent] as Event)) break
      list[i] = list[parent] as Event
      i = parent
    }
    list[i] = event
  }

  #pop(): void {
    const list = this.#list
    const last = list.pop() as Event
    if (list.length === 0) return
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= list.length) break
      if (child + 1 < list.length && before(list[child + 1] as Event, list[child] as Event)) child++
      if (before(last, list[child] as Event)) break
      list[i] = list[child] as Event
      i = child
    }
    list[i] = last
  }
}

const before = (a: Event, b: Event): boolean =>
  a.at !== b.at ? a.at < b.at : a.rank !== b.rank ? a.rank < b.rank : a.tie !== b.tie ? a.tie < b.tie : a.seq < b.seq
