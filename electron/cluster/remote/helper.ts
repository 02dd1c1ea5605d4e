/**
 * Writes rules through the helper that sudoers allows (resources/server/sluice-rule), which checks every word again.
 */
import { fail, ok, type Result } from '#core/base/result.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import { parseRuleCommand, type RuleCommand } from '#core/tbf/rule-command.ts'
import { HELPER_PATH, type SudoScope } from './sudo-scope.ts'

/** Default rate of a rule on a server, RPC/s. */
const RATE_WITHOUT = 10_000

const refuse = (why: string): Result<never> =>
  fail({ code: 'REMOTE_NO_RIGHT', what: 'The login may not do this', why, unaffected: 'Nothing was sent.' })

const rankOf = (c: { rank: string | undefined }): readonly string[] => (c.rank === undefined ? [] : [`rank=${c.rank}`])

function wordsOf(parameter: string, c: RuleCommand): Result<readonly string[]> {
  const head = [c.verb, parameter, c.queue ?? 'both', c.name]
  if (c.verb === 'stop') return ok(head)
  if (c.verb === 'start') {
    const realtime = c.realtime ? ['realtime=1'] : []
    return ok([...head, c.conditions, String(c.rate ?? RATE_WITHOUT), ...rankOf(c), ...realtime])
  }
  if (c.realtime) return refuse('the helper does not change realtime=; stop the rule and start it again')
  return ok([...head, ...(c.rate === undefined ? [] : [`rate=${c.rate}`]), ...rankOf(c)])
}

/**
 * Call of the helper for one assignment of set_param.
 *
 * @param assignment  `PARAMETER=VALUE`, on the closed list.
 * @returns           REMOTE_NO_RIGHT for assignments that the helper does not support: it changes no policy.
 */
export function throughHelper(assignment: string, sudo: SudoScope): Result<string> {
  const at = assignment.indexOf('=')
  const parameter = assignment.slice(0, at)
  const command = parseRuleCommand(assignment.slice(at + 1))
  if (!parameter.endsWith('.nrs_tbf_rule') || !command.ok) {
    return refuse('sudo allows the helper only, and that changes rules, not which policy runs')
  }
  const words = wordsOf(parameter, command.value)
  return words.ok ? ok(`sudo -n ${sudo.helper || HELPER_PATH} ${words.value.map(shellQuote).join(' ')}`) : words
}
