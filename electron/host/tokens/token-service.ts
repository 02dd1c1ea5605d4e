/** Requests of a window to an emulated data node: admission check, reservation, other settings. */
import type { TokensAdmission, TokensChange, TokensReserve } from '#core/api/tokens.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { EmulatedDataNode } from '#core/emulator/data-node.ts'
import { checkTokens } from '#core/haechi/settings.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'

const NO_DATA_NODE: Failure = {
  code: 'NO_DATA_NODE',
  what: 'Nothing was changed',
  why: 'this source has no data node of that name',
}

export class TokenService {
  readonly #monitor: ClusterMonitor

  constructor(monitor: ClusterMonitor) {
    this.#monitor = monitor
  }

  /** Admission check; an impossible reservation is a result too, with its reason. */
  check({ node, client, reservation, limit }: TokensReserve): Result<TokensAdmission> {
    const found = this.#node(node)
    if (!found.ok) return found
    const bad = checkTokens('The reservation', reservation) ?? (limit === null ? null : checkTokens('The limit', limit))
    const answered = found.value.check(client, bad ? 0 : reservation)
    if (!answered.ok) return answered
    const { value } = answered
    const periodNs = found.value.scenario.period_ms * NS_PER_MS
    const admissible = value.total - value.aggregateOver
    const fluidFinish = value.finishNs / periodNs
    const known = { reserved: value.total, admissible, fluidFinish }
    if (bad) {
      const text = `${bad.what}: ${bad.why ?? ''}`
      return ok({ admit: false, reasons: [{ kind: 'value', by: null, text }], ...known })
    }
    const reasons: TokensAdmission['reasons'] = value.reasons.map((r) => {
      if (r === 'aggregate') {
        return {
          kind: 'global',
          by: value.aggregateOver,
          text: 'the sum of all reservations exceeds the capacity of the node',
        }
      }
      if (r === 'local')
        return { kind: 'local', by: value.localOver, text: 'exceeds the capacity of one client in a period' }
      const lateMs = (value.finishNs - periodNs) / NS_PER_MS
      return { kind: 'fluid', by: lateMs, text: 'under equal shares all reservations finish after the period (ms)' }
    })
    return ok({ admit: value.isAdmitted, reasons, ...known })
  }

  reserve({ node, client, reservation, limit }: TokensReserve): Result<void> {
    const found = this.#node(node)
    if (!found.ok) return found
    const reserved = found.value.reserve(client, reservation, limit)
    if (!reserved.ok) return reserved
    this.#report(node, `${client}: reservation ${reservation}, limit ${limit ?? 'none'}, from the next period on`)
    return reserved
  }

  change({ node, variant, preset }: TokensChange): Result<void> {
    const found = this.#node(node)
    if (!found.ok) return found
    found.value.change({ variant, preset })
    this.#report(node, `restarts as ${found.value.variant}, ${found.value.preset}`)
    return ok(undefined)
  }

  #node(name: string): Result<EmulatedDataNode> {
    const node = this.#monitor.source.dataNodes?.find((n) => n.name === name)
    return node ? ok(node) : fail(NO_DATA_NODE)
  }

  #report(where: string, text: string): void {
    const atMs = this.#monitor.nowMs()
    this.#monitor.events.add({ atMs, kind: 'change', level: 'ok', subject: 'Tokens', text, where })
    this.#monitor.changed()
  }
}
