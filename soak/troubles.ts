/**
 * Server faults of the soak that scenarios cannot express: servers reboot (silent, then without rules, timers and counters),
 * hang, answer slowly or garbled, and lose their rules. Planned by a seed on the emulator's clock, and recorded, so that the
 * judge knows the periods in which a server could not be measured.
 */
import { randomStream } from '#core/base/random.ts'
import { ok } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { EmulatedCluster } from '#core/emulator/cluster.ts'
import type { NodeConnection } from '#electron/base/connection.ts'

export type Trouble = 'reboot' | 'silent' | 'slow' | 'garbled' | 'rules-lost'
const KINDS: readonly Trouble[] = ['reboot', 'silent', 'slow', 'garbled', 'rules-lost']

/** One trouble of one server; it cannot be measured in [fromNs, toNs) if `isBlind`. */
export interface TroubleEvent {
  readonly what: Trouble
  readonly host: string
  readonly fromNs: number
  readonly toNs: number
  readonly isBlind: boolean
}

/** Additional delay of a slow server, wall ms. */
const SLOW_MS = 25
/** Maximum duration of each kind, s. */
const LASTS_S: Readonly<Record<Trouble, number>> = { reboot: 60, silent: 25, slow: 20, garbled: 6, 'rules-lost': 1 }

export class Troubles {
  readonly #slow = new Set<string>()
  readonly #garbled = new Set<string>()
  readonly happened: TroubleEvent[] = []
  garbledAnswers = 0
  slowAnswers = 0

  /** Wraps a connection to a node with its current troubles. */
  readonly reach = (node: NodeConnection): NodeConnection => ({
    ...node,
    exec: async (command) => {
      // Readings only: a plan of hundreds of commands on a slow connection would block the emulated clock for minutes of real
      // time.
      if (this.#slow.has(node.host) && command.includes('get_param')) {
        this.slowAnswers++
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
      }
      const answer = await node.exec(command)
      // Read-backs stay intact: a plan with a garbled read-back correctly ends as unknown, which the soak does not allow.
      if (!answer.ok || !this.#garbled.has(node.host) || !command.includes('job_stats')) return answer
      this.garbledAnswers++
      return ok({ ...answer.value, stdout: garbled(answer.value.stdout) })
    },
  })

  /**
   * Schedules the troubles of a run in the emulator, one every `everyS`, each on a random server.
   *
   * @param seconds  length of the run; the last 15 s are free of troubles, so that it ends with healthy servers.
   */
  play(cluster: EmulatedCluster, { seconds, everyS, seed }: { seconds: number; everyS: number; seed: number }): void {
    const random = randomStream(seed, 'soak/troubles')
    const hosts = [...cluster.oss, ...cluster.mds].map((s) => s.name)
    for (let n = 0, at = everyS; at < seconds; n++, at += everyS) {
      const what = KINDS[n % KINDS.length] as Trouble
      const host = hosts[random.below(hosts.length)] as string
      const lasts = Math.min(
        1 + Math.floor(random.uniform() * LASTS_S[what]),
        Math.max(1, everyS - 1),
        seconds - 15 - at,
      )
      if (lasts < 1) continue
      this.#begin(cluster, what, host, [Math.round(at * NS_PER_S), Math.round((at + lasts) * NS_PER_S)])
    }
  }

  /** True if a server could not be measured at some time in [fromNs, toNs]. */
  isBlind(host: string, fromNs: number, toNs: number): boolean {
    return this.happened.some((h) => h.isBlind && h.host === host && h.fromNs <= toNs && h.toNs >= fromNs)
  }

  #begin(cluster: EmulatedCluster, what: Trouble, host: string, [fromNs, toNs]: readonly [number, number]): void {
    const { sim } = cluster
    const node = cluster.node(host)
    if (!node) return
    const isBlind = what === 'reboot' || what === 'silent' || what === 'garbled'
    const during = (on: () => void, off: () => void): void => {
      sim.at(fromNs, on)
      sim.at(toNs, off)
    }
    this.happened.push({ what, host, fromNs, toNs, isBlind })
    if (what === 'slow' || what === 'garbled') {
      const hosts = what === 'slow' ? this.#slow : this.#garbled
      during(
        () => hosts.add(host),
        () => hosts.delete(host),
      )
    } else if (what === 'rules-lost') sim.at(fromNs, () => loseRules(cluster, host))
    else {
      during(
        () => (node.isSilent = true),
        () => {
          node.isSilent = false
          if (what === 'reboot') restart(cluster, host)
        },
      )
    }
  }
}

/** Garbles counters with bytes that no server prints, and cuts the end, like an overloaded connection. */
function garbled(text: string): string {
  const lines = text.split('\n')
  return lines
    .slice(0, Math.ceil(lines.length * 0.8))
    .map((line, i) => (i % 7 === 3 ? `${line.slice(0, line.length >> 1)}\u0000\u00ff\u0007` : line))
    .join('\n')
}

/** Resets the schedulers to their state after module load, without rules. */
function loseRules({ oss, mds, scenario }: EmulatedCluster, host: string): void {
  const io = oss.filter((o) => o.name === host).map((o) => o.io)
  const metadata = mds.filter((m) => m.name === host).flatMap((m) => m.services)
  for (const service of [...io, ...metadata]) {
    service.nrs.writePolicies('fifo')
    service.nrs.writePolicies(scenario.policy)
    service.kick()
  }
}

/** Drops the state lost in a reboot: rules, timers, counters. */
function restart(cluster: EmulatedCluster, host: string): void {
  loseRules(cluster, host)
  const targets = [...cluster.osts, ...cluster.mds.flatMap((m) => m.mdts)].filter((t) => t.host === host)
  for (const t of targets) t.jobStats.clear()
  const node = cluster.node(host)
  node?.reboot()
}
