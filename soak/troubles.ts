/**
 * What befalls the servers of the soak beyond what a scenario can say: they reboot (silent, then without rules, timers and counters),
 * fall silent, answer slowly or garbled, and lose their rules. Planned by a seed on the emulator's clock, and written down, so that the
 * judge knows which periods a server could not be measured in.
 */
import { randomStream } from '#core/base/random.ts'
import { ok } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { EmulatedCluster } from '#core/emulator/cluster.ts'
import type { NodeConnection } from '#electron/base/connection.ts'

export type Trouble = 'reboot' | 'silent' | 'slow' | 'garbled' | 'rules-lost'
const KINDS: readonly Trouble[] = ['reboot', 'silent', 'slow', 'garbled', 'rules-lost']

/** One trouble of one server; nothing of it can be measured in [fromNs, toNs) where `isBlind`. */
export interface Happened {
  readonly what: Trouble
  readonly host: string
  readonly fromNs: number
  readonly toNs: number
  readonly isBlind: boolean
}

/** How much later a slow server answers, wall ms. */
const SLOW_MS = 25
/** Longest time of each kind, s. */
const LASTS_S: Readonly<Record<Trouble, number>> = { reboot: 60, silent: 25, slow: 20, garbled: 6, 'rules-lost': 1 }

export class Troubles {
  readonly #slow = new Set<string>()
  readonly #garbled = new Set<string>()
  readonly happened: Happened[] = []
  garbledAnswers = 0
  slowAnswers = 0

  /** The line to a node, as bad as it is at the moment. */
  readonly reach = (node: NodeConnection): NodeConnection => ({
    ...node,
    exec: async (command) => {
      // Readings only: a plan of hundreds of commands on a slow line would hold the emulated clock for minutes of real time.
      if (this.#slow.has(node.host) && command.includes('get_param')) {
        this.slowAnswers++
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
      }
      const answer = await node.exec(command)
      // Read-backs stay whole: a plan whose read-back is garbled ends unknown, as it must, and the soak wants none of these.
      if (!answer.ok || !this.#garbled.has(node.host) || !command.includes('job_stats')) return answer
      this.garbledAnswers++
      return ok({ ...answer.value, stdout: garbled(answer.value.stdout) })
    },
  })

  /**
   * Puts the troubles of a run on the emulator's calendar, one every `everyS`, on one server after the other by chance.
   *
   * @param seconds  length of the run; the last quarter of a minute is quiet, so that it ends with whole servers.
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

  /** Whether a server could not be measured for some moment of [fromNs, toNs]. */
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

/** Counters with bytes that no server prints, and an end that is missing: what a line at its limits makes of a table. */
function garbled(text: string): string {
  const lines = text.split('\n')
  return lines
    .slice(0, Math.ceil(lines.length * 0.8))
    .map((line, i) => (i % 7 === 3 ? `${line.slice(0, line.length >> 1)}\u0000\u00ff\u0007` : line))
    .join('\n')
}

/** Schedulers as after the module was loaded: no rule is left. */
function loseRules({ oss, mds, scenario }: EmulatedCluster, host: string): void {
  const io = oss.filter((o) => o.name === host).map((o) => o.io)
  const metadata = mds.filter((m) => m.name === host).flatMap((m) => m.services)
  for (const service of [...io, ...metadata]) {
    service.nrs.writePolicies('fifo')
    service.nrs.writePolicies(scenario.policy)
    service.kick()
  }
}

/** What a reboot takes: rules, timers, counters. */
function restart(cluster: EmulatedCluster, host: string): void {
  loseRules(cluster, host)
  const targets = [...cluster.osts, ...cluster.mds.flatMap((m) => m.mdts)].filter((t) => t.host === host)
  for (const t of targets) t.jobStats.clear()
  const node = cluster.node(host)
  node?.reboot()
}
