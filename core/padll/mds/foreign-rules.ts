/** Rules that somebody else started after ours stand before them: the first match takes an RPC. */
import { Binder } from '../../control/binding.ts'
import { isControllerRule } from '../../controllers/registry.ts'
import { headOf, typeOn, writtenRules } from '../../control/server-rules.ts'
import type { RuleLine } from '../../lustre/nrs-tbf-rule.ts'
import type { MdsService } from './operations.ts'
import type { ServicePlace } from './spots.ts'

interface Wanted {
  readonly host: string
  readonly service: MdsService
  readonly name: string
  readonly job: string
  readonly opcodes: readonly string[]
}

/** How to find the name of a rule that takes, or may take, RPCs of a rule of ours that is there. */
export function foreignBefore(places: readonly ServicePlace[]): (wanted: Wanted) => string | undefined {
  const binders = new Map<string, { readonly binder: Binder<RuleLine>; readonly names: ReadonlySet<string> }>()
  for (const { server, service } of places) {
    const reading = { ...server.services[service], profile: server.profile }
    const type = typeOn(reading, 'reg')
    if (!type) continue
    const head = headOf(writtenRules(reading), 'reg', 0)
    if (head.every((r) => isControllerRule(r.name) || r.name === 'default')) continue
    const names = new Set(head.map((r) => r.name))
    binders.set(`${server.host}\u0000${service}`, { binder: new Binder(head, type), names })
  }
  return ({ host, service, name, job, opcodes }) => {
    const of = binders.get(`${host}\u0000${service}`)
    if (!of?.names.has(name)) return undefined
    const requests = opcodes.length > 0 ? opcodes.map((opcode) => ({ jobId: job, opcode })) : [{ jobId: job }]
    for (const request of requests) {
      const { sure, may } = of.binder.bind(request)
      const other = [...may, ...(sure ? [sure] : [])].find((r) => r.name !== name)
      if (other) return other.name
    }
    return undefined
  }
}
