/** Leftovers of ours on the servers of a live cluster: what an earlier start, or another process that has ended, left there. */
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { cleanLeftovers, findLeftovers, type LeftoverParts } from '../../enforce/leftovers.ts'
import type { Console } from '../console.ts'
import type { LiveConsole } from './live-console.ts'
import { unitsOn } from '../sources/stop.ts'

function partsOf(live: LiveConsole, console: Console): LeftoverParts {
  const { monitor, ruleService, store } = console
  const silent = new Set(console.facts.silent?.() ?? [])
  const nodes = monitor.source.nodes.filter((n) => !silent.has(n.host))
  const isControlling = monitor.loop.mode === 'enforce'
  return {
    ...{ cluster: live.cluster.name, nodes, store },
    // Controllers in enforce answer for every rule of their form; otherwise nobody does.
    isHeld: (spot) => ruleService.rules.find(spot) !== undefined || (isControlling && isControllerRule(spot.name)),
    heldUnits: new Set(nodes.flatMap((n) => unitsOn(console, n.host))),
    nowMs: () => monitor.nowMs(),
  }
}

/** Looks at every server that answers; what it came to stands in `live.leftovers`. */
export async function lookForLeftovers(live: LiveConsole): Promise<void> {
  const { console } = live
  if (!console) return
  const found = await findLeftovers(partsOf(live, console))
  if (live.console === console) live.leftovers = found
}

/** Removes some of them. Failures: NOT_CONNECTED, NOT_TYPED, READ_ONLY, and those of the record of what is enforced. */
export async function removeLeftovers(
  live: LiveConsole,
  keys: readonly string[],
  typed: string,
): Promise<Result<readonly NodeEnd[]>> {
  const { console } = live
  const { name } = live.cluster
  const refuse = (code: string, why: string, next: string): Result<readonly NodeEnd[]> =>
    fail({ code, what: 'Nothing was removed', why, unaffected: 'Rules on servers stay as they are.', next })
  if (!console) return refuse('NOT_CONNECTED', `${name} is not connected`, 'Connect it first.')
  const refused = console.guard?.mayRemove()
  if (refused) return fail(refused)
  if (typed !== name) return refuse('NOT_TYPED', 'what was typed is not its name', `Type ${name}.`)
  const ends = await cleanLeftovers({ ...partsOf(live, console), audit: console.monitor.audit }, keys)
  await lookForLeftovers(live)
  return ok(ends)
}
