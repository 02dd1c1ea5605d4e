/** Diagnosis of a value for nrs_tbf_rule before it is sent: refusals by the server and by Sluice. */
import { profile as profileOf, type Profile } from '../lustre/profile.ts'
import type { Nodemaps } from './nodemaps.ts'
import type { Field } from './request-key.ts'
import { parseRuleCommand, type RuleCommand } from './rule-command.ts'
import { fault, nearest, type RuleFault } from './rule-fault.ts'
import { parseTbfType, typeOf, type TbfType } from './tbf-type.ts'

export interface DiagnosisOptions {
  /**
   * Type that runs on the queue: the argument of `tbf` as nrs_policies prints it (empty = generic), or the fields; null when
   * TBF does not run there.
   */
  readonly type: string | readonly Field[] | null
  readonly profile?: Profile
  /** True if the service has a high-priority queue; default true. */
  readonly hp?: boolean
  /** Nodemaps of the server; absent: any name is accepted. */
  readonly nodemaps?: Nodemaps | undefined
  /** Names of the existing rules, including `default`; absent: existence is not checked. */
  readonly names?: readonly string[]
}

export interface Diagnosis {
  /** Parsed command, if a server accepts the text; also with a fault marked `isMishandled`. */
  readonly command?: RuleCommand
  /** First fault, in the order of a server's checks; `isMishandled` if a server accepts it and mishandles it. */
  readonly fault?: RuleFault
  /** Accepted by servers but probably not intended. */
  readonly warnings: readonly RuleFault[]
}

function runningType(type: DiagnosisOptions['type'], p: Profile): TbfType | null {
  if (type === null) return null
  if (typeof type !== 'string') return typeOf(type, p.rules)
  const read = parseTbfType(type === '' ? undefined : type, p.rules)
  return read.ok ? read.value : null
}

/** Error of a server for a well-formed command. */
function stateFault(value: string, c: RuleCommand, options: DiagnosisOptions): RuleFault | undefined {
  const nameAt = value.indexOf(c.name, value.indexOf(c.verb) + c.verb.length)
  const named = (why: string, errno: RuleFault['errno']): RuleFault => ({
    ...fault(nameAt, c.name.length, why, errno).error,
    part: 'name',
  })
  if (options.type === null) return named('TBF does not run on this queue', 'ENODEV')
  if (c.verb === 'stop') return c.name === 'default' ? named('the built-in rule cannot be stopped', 'EPERM') : undefined
  const { names } = options
  const isThere = c.name === 'default' || names?.includes(c.name)
  if (c.verb === 'start' && isThere) return named(`a rule is called ${c.name} already`, 'EEXIST')
  if (c.verb === 'change' && isThere === false)
    return named(`no rule is called ${c.name}${nearest(c.name, names ?? [])}`, 'ENOENT')
  if (c.rank === undefined || c.rank === 'default' || !names || names.includes(c.rank)) return undefined
  const why = `no rule is called ${c.rank}${nearest(c.rank, names)}`
  return { ...fault(value.lastIndexOf(`rank=${c.rank}`) + 5, c.rank.length, why, 'ENOENT').error, part: 'rank' }
}

/** Parses a value as the server would and returns faults and warnings. Offsets are in `value`. */
export function diagnoseRule(value: string, options: DiagnosisOptions): Diagnosis {
  const p = options.profile ?? profileOf('dev')
  const read = parseRuleCommand(value, {
    rules: p.rules,
    type: runningType(options.type, p),
    nodemaps: options.nodemaps,
    hp: options.hp ?? true,
  })
  if (!read.ok) return { fault: read.error, warnings: [] }
  const command = read.value
  const cautions = command.verb === 'start' ? (command.parsed?.cautions ?? []) : []
  const warnings = cautions.filter((c) => !c.isMishandled)
  if (command.verb === 'change' && command.realtime) {
    const at = value.lastIndexOf('realtime=')
    warnings.push({ ...fault(at, value.length - at, 'a change does not set realtime').error, part: 'realtime' })
  }
  const refused = stateFault(value, command, options)
  if (refused) return { fault: refused, warnings }
  const mishandled = cautions.find((c) => c.isMishandled)
  return { command, ...(mishandled ? { fault: mishandled } : {}), warnings }
}
