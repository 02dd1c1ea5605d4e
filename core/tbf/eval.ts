/**
 * Machine interface to the scheduler's parameters: one JSON line in, one JSON line out, a fresh service for each.
 *
 * Input is untrusted text, so every field is checked by hand.
 */
import { fail, formatFailure, ok, type Failure, type Result } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'
import { formatRuleLine, type RuleLine } from '../lustre/nrs-tbf-rule.ts'
import { profile } from '../lustre/profile.ts'
import { isRelease, RELEASES } from '../lustre/release.ts'
import { Nodemaps } from './nodemaps.ts'
import { NrsService } from './nrs-service.ts'
import { OST_IO_POLICIES, OTHER_POLICIES } from './policy-command.ts'
import { POLICY_PARAMETERS, type PolicyParameterName } from './policy-parameters.ts'
import type { ScheduledRequest } from './scheduler.ts'
import { utf8Bytes, utf8Text } from './utf8.ts'

/** Reason for which a line is refused. */
export type EvalCode =
  | 'NOT_JSON'
  | 'NOT_AN_OBJECT'
  | 'MISSING_FIELD'
  | 'WRONG_TYPE'
  | 'UNKNOWN_PARAMETER'
  | 'UNKNOWN_VERSION'
  | 'OUT_OF_RANGE'
interface EvalFailure extends Failure {
  readonly code: EvalCode
}
type Fields = Readonly<Record<string, unknown>>
type Service = NrsService<ScheduledRequest>

const CPTS_MAX = 1024

/**
 * Answers lines `{"param","cmd","pre":["param=value"],"service"?:{"cpts","hp","ost_io"},"version"?}`: `pre` is written first,
 * whether it succeeds or not, then `cmd`. A service has 2 CPTs, a high-priority queue and the policies of ost_io unless
 * `service` overrides them, and the nodemaps `default` and `TBF`; `version` is a release, `dev` when absent.
 *
 * The answer is `{"expect","get_rule_errno","after"?}`: `ok` or the name of an errno, for the write and for reading the rules
 * afterwards, and the rule lines by `QUEUE.CPT`. ENOTSUPP is called ENOMEM, after the exit code 12 that lctl makes of it.
 */
export class LustreEval {
  /** The answer to one line, without a line end. Never throws. */
  answer(line: string): string {
    const answered = answer(line)
    if (answered.ok) return JSON.stringify(answered.value)
    return JSON.stringify({ error: { code: answered.error.code, message: formatFailure(answered.error) } })
  }
}

const nameOf = (r: Result<unknown, Errno>): string => (r.ok ? 'ok' : r.error === 'ENOTSUPP' ? 'ENOMEM' : r.error)

function answer(line: string): Result<object, EvalFailure> {
  const fields = parseObject(line)
  if (!fields.ok) return fields
  const { param, cmd, pre = [] } = fields.value
  if (typeof param !== 'string')
    return refuse(param === undefined ? 'MISSING_FIELD' : 'WRONG_TYPE', 'param is not a string')
  if (typeof cmd !== 'string') return refuse(cmd === undefined ? 'MISSING_FIELD' : 'WRONG_TYPE', 'cmd is not a string')
  if (!Array.isArray(pre)) return refuse('WRONG_TYPE', 'pre is not a list')
  const made = makeService(fields.value)
  if (!made.ok) return made
  for (const [at, text] of (pre as unknown[]).entries()) {
    const equals = typeof text === 'string' ? text.indexOf('=') : -1
    if (typeof text !== 'string' || equals < 0) return refuse('WRONG_TYPE', `pre[${at}] is not param=value`)
    const before = write(made.value, text.slice(0, equals), text.slice(equals + 1))
    if (!before) return refuse('UNKNOWN_PARAMETER', `pre[${at}]: there is no parameter ${text.slice(0, equals)}`)
  }
  const written = write(made.value, param, cmd)
  if (!written) return refuse('UNKNOWN_PARAMETER', `there is no parameter ${param}`)
  const read = made.value.readRules()
  // If reading fails, the golden cases of the development line still contain the rules of each head; those of running
  // servers do not.
  const rules = read.ok || made.value.profile.release === 'dev' ? made.value.rules() : []
  return ok({
    expect: nameOf(written),
    get_rule_errno: nameOf(read),
    ...(rules.length > 0 ? { after: linesOf(rules) } : {}),
  })
}

function makeService(fields: Fields): Result<Service, EvalFailure> {
  const { version = 'dev', service = {} } = fields
  if (typeof version !== 'string' || !isRelease(version)) {
    return refuse('UNKNOWN_VERSION', `version is none of ${RELEASES.join(', ')}`)
  }
  if (!isFields(service)) return refuse('WRONG_TYPE', 'service is not an object')
  const { cpts = 2, hp = true, ost_io: isOstIo = true } = service
  if (typeof cpts !== 'number') return refuse('WRONG_TYPE', 'service.cpts is not a number')
  if (!Number.isInteger(cpts) || cpts < 1 || cpts > CPTS_MAX) {
    return refuse('OUT_OF_RANGE', `service.cpts is not from 1 to ${CPTS_MAX}`)
  }
  if (typeof hp !== 'boolean' || typeof isOstIo !== 'boolean') {
    return refuse('WRONG_TYPE', 'service.hp or service.ost_io is not true or false')
  }
  return ok(
    new NrsService<ScheduledRequest>({
      cpts,
      hp,
      policies: isOstIo ? OST_IO_POLICIES : OTHER_POLICIES,
      profile: profile(version),
      nodemaps: new Nodemaps(['TBF']),
    }),
  )
}

/** Returns undefined for a parameter that the service does not have. */
function write(service: Service, param: string, text: string): Result<undefined, Errno> | undefined {
  const value = utf8Bytes(text)
  const name = param.slice(param.lastIndexOf('.') + 1)
  if (name === 'nrs_policies') return service.writePolicies(value)
  if (name === 'nrs_tbf_rule') return service.writeRule(value)
  return Object.hasOwn(POLICY_PARAMETERS, name)
    ? service.writePolicyParameter(name as PolicyParameterName, value)
    : undefined
}

function linesOf(rules: readonly RuleLine[]): Record<string, string[]> {
  const out: Record<string, string[]> = {}
  for (const r of rules) {
    const lines = (out[`${r.queue}.${r.cpt}`] ??= [])
    lines.push(utf8Text(formatRuleLine(r).slice(0, -1)))
  }
  return out
}

function parseObject(line: string): Result<Fields, EvalFailure> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return refuse('NOT_JSON', 'the line is not JSON')
  }
  return isFields(value) ? ok(value) : refuse('NOT_AN_OBJECT', 'the line is not a JSON object')
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const refuse = (code: EvalCode, what: string): Result<never, EvalFailure> => fail({ code, what })
