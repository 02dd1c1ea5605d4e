/**
 * `sluice-rule` of an emulated server (resources/server/sluice-rule): the commands that it accepts, its output, and its expiry
 * timers on systemd. The emulated shell cannot run the script itself; a test compares both.
 */
import { CONTROLLER_RULE, HELPER_PREFIX, OPERATOR_PREFIX } from '../controllers/registry.ts'
import { done, exitWith, type ExecResult, type Program } from './exec.ts'

export const RULE_HELPER = '/usr/local/sbin/sluice-rule'

const RATE_MOST = 999_999
const SECONDS_MOST = 604_800
const STOPS_MOST = 1000
const APPLY_MOST = 64
const CONDITIONS_MOST = 2048
const PARAMETERS = /^(?:ost\.OSS\.ost_io|mds\.MDS\.mdt|mds\.MDS\.mdt_readpage)\.nrs_tbf_rule$/
const CHARACTERS = /^[-A-Za-z0-9.@_:/+#%=~^*?,&{}[\] ]*$/
const EXPRESSION = String.raw`(?:jobid|nid|opcode|uid|gid|projid|nodemap)=\{[^{}]+\}`
const CONDITIONS = new RegExp(`^${EXPRESSION}(?:[,&]${EXPRESSION})*$`)
const SLUICE_RULE = new RegExp(`^(?:${CONTROLLER_RULE}|(?:${OPERATOR_PREFIX}|${HELPER_PREFIX})\\w+)$`)
const UNIT = /^sluice-[A-Za-z0-9][\w-]*$/

export interface RuleHelperSite {
  /** `lctl set_param` of several assignments. */
  readonly setParams: (assignments: readonly string[]) => ExecResult
  /** True if a pending timer's name has the prefix. */
  readonly hasTimer: (prefix: string) => boolean
  /** `systemd-run` and `systemctl`, as root. */
  readonly systemdRun: (args: readonly string[]) => ExecResult
  readonly systemctl: (args: readonly string[]) => ExecResult
  /** `/proc/uptime`. */
  readonly uptime: () => string
}

/** Refusal with the script's message. */
class Refusal {
  readonly why: string

  constructor(why: string) {
    this.why = why
  }
}

const need = (is: boolean, why: string): Refusal | undefined => (is ? undefined : new Refusal(why))

function needNumber(text: string, most: number, what: string): Refusal | undefined {
  if (!/^[1-9]\d*$/.test(text)) return new Refusal(`${what} is not a whole number from 1 to ${most}`)
  return need(text.length <= 9 && Number(text) <= most, `${what} is more than ${most}`)
}

const needWord = (text: string, what: string): Refusal | undefined =>
  need(/^\w+$/.test(text), `${what} is not a rule name`) ??
  need(text.length <= 15, `${what} is longer than 15 characters`)

const needRule = ([parameter = '', queue = '', name = '']: readonly string[]): Refusal | undefined =>
  need(PARAMETERS.test(parameter), 'this parameter does not hold TBF rules') ??
  need(/^(?:reg|hp|both)$/.test(queue), 'the queue must be reg, hp or both') ??
  needWord(name, 'the name') ??
  need(SLUICE_RULE.test(name), 'this rule is not managed by Sluice')

const needConditions = (text: string): Refusal | undefined =>
  need(CHARACTERS.test(text), 'the conditions contain a character that rules cannot contain') ??
  need(text.length <= CONDITIONS_MOST, 'the conditions are too long') ??
  need(CONDITIONS.test(text), 'the conditions are not of the form field={...}')

const needUnit = (unit: string): Refusal | undefined =>
  need(UNIT.test(unit), 'this timer is not managed by Sluice') ??
  need(unit.length <= 63, 'the name of the timer is too long')

function needStops(args: readonly string[]): Refusal | undefined {
  const isComplete = args.length > 0 && args.length % 3 === 0
  if (!isComplete) return new Refusal('a timer needs one or more PARAMETER QUEUE NAME')
  if (args.length / 3 > STOPS_MOST) return new Refusal(`a timer stops at most ${STOPS_MOST} rules`)
  for (let i = 0; i < args.length; i += 3) {
    const wrong = needRule(args.slice(i, i + 3))
    if (wrong) return wrong
  }
  return undefined
}

const selector = (queue: string): string => (queue === 'both' ? '' : `${queue} `)

const needNoStop = ({ hasTimer }: RuleHelperSite): Refusal | undefined =>
  need(!hasTimer('sluice-stop-'), 'a stop of Sluice is in progress on this server')

const needPairs = (pairs: readonly string[], needOther: (pair: string) => Refusal | undefined): Refusal | undefined => {
  for (const pair of pairs) {
    const bad = pair.startsWith('rank=') ? needWord(pair.slice(5), 'the rank') : needOther(pair)
    if (bad) return bad
  }
  return undefined
}

/** Assignment of `start`, `change` or `stop` with its words. */
function assignmentOf(verb: string, words: readonly string[]): string | Refusal {
  const [parameter = '', queue = '', name = ''] = words
  const write = (value: readonly string[]): string => `${parameter}=${selector(queue)}${value.join(' ')}`
  if (verb === 'start') {
    const [, , , conditions = '', rate = '', ...more] = words
    if (words.length < 5 || words.length > 7) {
      return new Refusal('start PARAMETER QUEUE NAME CONDITIONS RATE [rank=NAME] [realtime=1]')
    }
    const onlyRealtime = (pair: string): Refusal | undefined =>
      need(pair === 'realtime=1', 'only rank=NAME and realtime=1 are allowed after the rate')
    const wrong =
      needRule(words) ??
      needConditions(conditions) ??
      needNumber(rate, RATE_MOST, 'the rate') ??
      needPairs(more, onlyRealtime)
    return wrong ?? write(['start', name, conditions, `rate=${rate}`, ...more])
  }
  if (verb === 'change') {
    const pairs = words.slice(3)
    if (words.length < 4 || words.length > 5) return new Refusal('change PARAMETER QUEUE NAME [rate=RATE] [rank=NAME]')
    const onlyRate = (pair: string): Refusal | undefined =>
      pair.startsWith('rate=')
        ? needNumber(pair.slice(5), RATE_MOST, 'the rate')
        : new Refusal('only rate=RATE and rank=NAME can be changed')
    return needRule(words) ?? needPairs(pairs, onlyRate) ?? write(['change', name, ...pairs])
  }
  if (verb !== 'stop') return new Refusal(APPLY_TAKES)
  return need(words.length === 3, 'stop PARAMETER QUEUE NAME') ?? needRule(words) ?? write(['stop', name])
}
const APPLY_TAKES = 'apply takes start, change and stop'

/** Writes rules, each its verb and words: all of them or none. */
function applyRules(rules: readonly (readonly string[])[], site: RuleHelperSite): ExecResult | Refusal {
  const assignments: string[] = []
  for (const [i, [verb = '', ...words]] of rules.entries()) {
    if (i >= APPLY_MOST) return new Refusal(`apply takes at most ${APPLY_MOST} rules`)
    const isOdd = rules.length > 1 && (words.length < 3 || words.length > 7)
    const assignment = isOdd ? new Refusal(APPLY_TAKES) : assignmentOf(verb, words)
    if (assignment instanceof Refusal) return assignment
    assignments.push(assignment)
  }
  const starts = rules.some(([verb]) => verb !== 'stop')
  return (starts ? needNoStop(site) : undefined) ?? site.setParams(assignments)
}

/** Rules of `apply`, separated by `--`. */
function apply(args: readonly string[], site: RuleHelperSite): ExecResult | Refusal {
  const rules: string[][] = [[]]
  for (const word of args) {
    if (word === '--') rules.push([])
    else rules.at(-1)?.push(word)
  }
  return applyRules(rules, site)
}

function stopAll(args: readonly string[], site: RuleHelperSite): ExecResult {
  let all = done()
  for (let i = 0; i < args.length; i += 3) {
    const [parameter = '', queue = '', name = ''] = args.slice(i, i + 3)
    const { stdout, stderr, code } = site.setParams([`${parameter}=${selector(queue)}stop ${name}`])
    all = { stdout: all.stdout + stdout, stderr: all.stderr + stderr, code }
  }
  return all
}

function expire(args: readonly string[], site: RuleHelperSite): ExecResult | Refusal {
  const [seconds = '', unit = '', ...stops] = args
  if (args.length < 5) return new Refusal('expire SECONDS UNIT PARAMETER QUEUE NAME ...')
  const wrong = needNumber(seconds, SECONDS_MOST, 'the time') ?? needUnit(unit) ?? needStops(stops)
  if (wrong) return wrong
  const at = Math.floor(Number.parseFloat(site.uptime())) + Number(seconds)
  const description = `sluice-rule ${unit} ${at} ${stops.join(' ')}`
  const options = ['--timer-property=AccuracySec=1s', `--unit=${unit}`, '--collect', `--description=${description}`]
  return site.systemdRun(['--quiet', `--on-active=${seconds}s`, ...options, RULE_HELPER, 'fire', ...stops])
}

const SHOWN = '--property=Id,ActiveState,SubState,NextElapseUSecMonotonic,ExecStart'

const list = (site: RuleHelperSite): ExecResult =>
  done(site.systemctl(['show', '--all', SHOWN, 'sluice-*.timer', 'sluice-*.service']).stdout + site.uptime())

function run(verb: string, args: readonly string[], site: RuleHelperSite): ExecResult | Refusal {
  switch (verb) {
    case 'start':
    case 'change':
    case 'stop':
      return applyRules([[verb, ...args]], site)
    case 'apply':
      return apply(args, site)
    case 'expire':
      return expire(args, site)
    case 'fire':
      return needStops(args) ?? stopAll(args, site)
    case 'end':
      return (
        need(args.length === 1, 'end UNIT') ??
        needUnit(args[0] ?? '') ??
        site.systemctl(['stop', `${args[0] ?? ''}.timer`])
      )
    case 'list':
      return need(args.length === 0, 'list takes no arguments') ?? list(site)
    default:
      return new Refusal('expected start, change, stop, apply, expire, end or list')
  }
}

export function ruleHelper(site: RuleHelperSite): Program {
  return ([verb = '', ...args]) => {
    const ended = run(verb, args, site)
    return ended instanceof Refusal ? exitWith(2, `sluice-rule: ${ended.why}\n`) : ended
  }
}
