/**
 * Requests of a window to a data node: admission check, reservation, other settings. An emulated node is changed in place, a running
 * one through its commands, under the safety rules of the console.
 */
import type { TokensAdmission, TokensChange, TokensReserve } from '#core/api/tokens.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { EmulatedDataNode } from '#core/emulator/data-node.ts'
import { admission, type AdmissionAnswer } from '#core/haechi/admission.ts'
import { reserveCommand } from '#core/haechi/console.ts'
import type { HaechiStatus } from '#core/haechi/status.ts'
import { checkTokens } from '#core/haechi/settings.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { HaechiReader } from '../../cluster/tokens/haechi-reader.ts'
import { CommandLink } from '../command-link.ts'

const NO_DATA_NODE: Failure = {
  code: 'NO_DATA_NODE',
  what: 'Nothing was changed',
  why: 'this source has no data node of that name',
}

const FIXED: Failure = {
  code: 'DATA_NODE_FIXED',
  what: 'Nothing was changed',
  why: 'variant and preset of a running data node are set at its start',
  unaffected: 'The node continues unchanged.',
  next: 'Start it again with other settings: sluice haechi node --help.',
}

const unknown = (client: string): Failure => ({
  code: 'E_CLIENT',
  what: `No client called ${client} is on the data node`,
  unaffected: 'Nothing was changed.',
})

/** Admission as the running node decides it, by its last status. */
function checkLive(status: HaechiStatus | undefined, client: string, reservation: number): Result<AdmissionAnswer> {
  const present = (status?.clients ?? []).filter((c) => c.state === 'active')
  const own = present.find((c) => c.name === client)
  if (!status || !own) return fail(unknown(client))
  const { periodNs, fluidAdmission: fluid } = status.settings
  const answer = admission({
    admitted: present.filter((c) => c !== own).map((c) => c.reservation),
    reservation,
    capacity: { globalIops: (status.omega * NS_PER_S) / periodNs, localIops: status.profile.localIops },
    periodNs,
    fluid,
  })
  // Reducing a reservation is never refused.
  return ok(reservation <= own.reservation ? { ...answer, isAdmitted: true, reasons: [] } : answer)
}

export class TokenService {
  readonly #monitor: ClusterMonitor
  readonly #link: CommandLink

  constructor(monitor: ClusterMonitor) {
    this.#monitor = monitor
    const kind = { noun: 'data node', view: 'Tokens', subject: 'Tokens', refusedCode: 'DATA_NODE_REFUSED' }
    this.#link = new CommandLink(monitor, kind)
  }

  /** Admission check; an impossible reservation is a result too, with its reason. */
  check({ node, client, reservation, limit }: TokensReserve): Result<TokensAdmission> {
    const reader = this.#reader(node)
    const found = reader ? undefined : this.#node(node)
    if (found && !found.ok) return found
    const bad = checkTokens('The reservation', reservation) ?? (limit === null ? null : checkTokens('The limit', limit))
    const answered = found
      ? found.value.check(client, bad ? 0 : reservation)
      : checkLive(reader?.dataNode.status, client, bad ? 0 : reservation)
    if (!answered.ok) return answered
    const { value } = answered
    const periodNs = found
      ? found.value.scenario.period_ms * NS_PER_MS
      : (reader?.dataNode.status?.settings.periodNs ?? NS_PER_S)
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

  /** Failures: those of admission; for a running node those of `CommandLink.send` and NOT_TYPED. */
  async reserve({ node, client, reservation, limit, typed = '' }: TokensReserve): Promise<Result<void>> {
    const reader = this.#reader(node)
    if (reader) return this.#reserveLive(reader, { client, reservation, limit, typed })
    const found = this.#node(node)
    if (!found.ok) return found
    const reserved = found.value.reserve(client, reservation, limit)
    if (!reserved.ok) return reserved
    this.#report(node, `${client}: reservation ${reservation}, limit ${limit ?? 'none'}, from the next period on`)
    return reserved
  }

  change({ node, variant, preset }: TokensChange): Result<void> {
    if (this.#reader(node)) return fail(FIXED)
    const found = this.#node(node)
    if (!found.ok) return found
    found.value.change({ variant, preset })
    this.#report(node, `restarts as ${found.value.variant}, ${found.value.preset}`)
    return ok(undefined)
  }

  #node(name: string): Result<EmulatedDataNode> {
    const node = this.#monitor.dataNodes.find((n) => n.name === name)
    return node instanceof EmulatedDataNode ? ok(node) : fail(NO_DATA_NODE)
  }

  #reader(name: string): HaechiReader | undefined {
    return this.#monitor.haechi.find((r) => r.dataNode.name === name)
  }

  async #reserveLive(
    reader: HaechiReader,
    { client, reservation, limit, typed }: Required<Omit<TokensReserve, 'node'>>,
  ): Promise<Result<void>> {
    if (typed !== reader.dataNode.name) {
      const next = `Type the name of the data node as shown: ${reader.dataNode.name}.`
      return fail({ code: 'NOT_TYPED', what: 'Nothing was changed', why: 'the typed name does not match', next })
    }
    const bad = checkTokens('The reservation', reservation) ?? (limit === null ? null : checkTokens('The limit', limit))
    if (bad) return fail(bad)
    const { status } = reader.dataNode
    const command = status && reserveCommand(status.run, client, reservation, limit)
    if (command === undefined) return fail(reader.failure ?? unknown(client))
    return this.#link.send(reader, {
      title: `${client}: reservation ${reservation}, limit ${limit ?? 'none'}, from the next period on`,
      command,
      isApplied: () => {
        const now = reader.dataNode.status?.clients.find((c) => c.name === client && c.state === 'active')
        return now?.reservation === reservation && now.limit === limit
      },
    })
  }

  #report(where: string, text: string): void {
    const atMs = this.#monitor.nowMs()
    this.#monitor.events.add({ atMs, kind: 'change', level: 'ok', subject: 'Tokens', text, where })
    this.#monitor.changed()
  }
}
