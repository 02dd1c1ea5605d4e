/**
 * Token audit of a real node: I1 to I3 of spec/haechi 2 over the logs and counters of its threads, available once the node is
 * closed. Returns violations as text; an empty list if there are none.
 *
 * FAAs are counted by the clients that posted them, tokens taken from the pool by the monitor alone. A thread that was ended
 * between its FAA and its count leaves one batch unaccounted for.
 */
import type { ClientLog } from './messages.ts'
import type { RealNode } from './real-node.ts'

export interface Audit {
  readonly periods: number
  /** Largest share of its tokens (omega) that a period handed out. */
  readonly mostHandedOut: number
  readonly violations: readonly string[]
}

export function audit(node: RealNode): Audit {
  const logs = new Map<string, ClientLog>()
  for (const log of node.logs.items) logs.set(`${log.client} ${log.epoch}`, log)
  const violations = [...clients(node), ...node.logs.items.flatMap(engine), ...monitor(node)]
  let mostHandedOut = 0
  const isCrashed = (client: number): boolean => node.state(client) === 'crashed'
  const isLedger = node.setup.settings.conversion === 'ledger'
  const silent = new Set<number>()
  for (const e of node.events.items) if (e.kind === 'alert' && e.alert === 'silent-client') silent.add(e.client)

  for (const period of node.periods.items) {
    const { epoch, omega, reserved, claimed } = period
    let granted = 0
    let unsure = 0
    for (let client = 0; client < node.clientCount; client++) {
      const last = node.memory.counters(client).lastGrants
      const log = logs.get(`${client} ${epoch}`)
      granted += log?.granted ?? (last.epoch === epoch ? last.tokens : 0)
      if (log === undefined && isCrashed(client)) unsure += node.setup.settings.batch
    }
    if (granted > claimed || granted + unsure < claimed)
      violations.push(`period ${epoch}: FAAs were granted ${granted} tokens, the pool lost ${claimed}`)

    let back = 0
    // The usage of a client that was taken for silent is unknown (A20).
    let slack = 0
    for (const { client, reservation, yielded } of period.clients) {
      const log = logs.get(`${client} ${epoch}`)
      back += log?.yielded ?? yielded
      if (silent.has(client)) slack += reservation
      else if (log !== undefined && yielded > log.yielded)
        violations.push(`period ${epoch}: client ${client} yielded ${log.yielded}, the monitor believes ${yielded}`)
    }
    const bound = Math.max(omega, reserved) + slack
    const handedOut = reserved - back + claimed
    mostHandedOut = Math.max(mostHandedOut, handedOut / Math.max(omega, reserved))
    if (isLedger && handedOut > bound) violations.push(`period ${epoch}: ${handedOut} tokens handed out of ${bound}`)
  }
  return { periods: node.periods.items.length, mostHandedOut, violations }
}

/** Each token of an engine is used, yielded, void or held, and each copied record used one (I3). */
function engine({ client, epoch, ledger: t, limit, issued }: ClientLog): string[] {
  const found: string[] = []
  const check = (claim: string, a: number, b: number): void => {
    if (a !== b) found.push(`client ${client}, period ${epoch}: ${claim}: ${a} != ${b}`)
  }
  const used = t.usedReservation + t.usedGlobal
  check('pushed tokens', t.pushed, t.usedReservation + t.yielded + t.voidedReservation + t.reservationTokens)
  check('claimed tokens', t.claimed, t.usedGlobal + t.voidedGlobal + t.globalTokens)
  check('posted I/Os', used, t.completed + t.inflight)
  check('copied records', t.copied, t.completed)
  if (limit !== null && issued > limit) found.push(`client ${client}, period ${epoch}: ${issued} I/Os over ${limit}`)
  return found
}

/** Checks the counters of all clients, including crashed ones. */
function clients(node: RealNode): string[] {
  const found: string[] = []
  for (let client = 0; client < node.clientCount; client++) {
    const counters = node.memory.counters(client)
    // Copies are read before the tokens that allowed them.
    const { copied } = counters
    const { used } = counters
    if (node.setup.mode === 'haechi' && copied > used) found.push(`client ${client}: ${copied} I/Os, ${used} tokens`)
  }
  return found
}

function monitor(node: RealNode): string[] {
  const found: string[] = []
  const { overfull, backwards, lost } = node.checks
  const { data } = node.memory.wakeUps
  if (overfull > 0) found.push(`${overfull} conversions left more tokens than fit into the period`)
  if (backwards > 0) found.push(`${backwards} reports went backwards`)
  if (data > 0) found.push(`${data} wake-ups of the data node by data I/Os`)
  const isCrashed = Array.from({ length: node.clientCount }, (_, c) => node.state(c)).includes('crashed')
  if (lost > 0 && !isCrashed) found.push(`${lost} messages to living clients were lost`)
  for (const e of node.events.items)
    if (e.kind === 'alert' && e.alert === 'bad-report') found.push(`client ${e.client}: ${e.what}`)
  return found
}
