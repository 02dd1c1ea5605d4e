/**
 * Command lines of a plan: all changes of a server in one line, in order, and the result of each.
 *
 * Removals come first and are executed in any case; starts and changes only while the timer that covers them waits, which the line checks
 * once, before the one call of lctl that makes them.
 */
import type { PlanCommand } from '#core/control/plan.ts'
import { assignmentResults, setParamCommand, setParamsCommand } from '#core/lustre/lctl.ts'
import { whileTimerExists } from '../base/while-timer-exists.ts'
import { RULE_TIMER_GONE, type Answer } from './send-command.ts'

/** Most commands and characters of a line: a line is not interrupted by a stop, and sshd takes 128 KiB. */
const COMMANDS_MOST = 64
const CHARACTERS_MOST = 32_768

export interface CommandLine {
  readonly commands: readonly PlanCommand[]
  /** Line as sent. */
  readonly text: string
  readonly isGuarded: boolean
}

/** Result of one command of a line. */
export interface CommandResult {
  readonly command: PlanCommand
  /** Reason why it has no effect; undefined if it was executed. */
  readonly fault: string | undefined
}

function lineOf(parameter: string, commands: readonly PlanCommand[], timerFile: string | undefined): CommandLine {
  const isRemoval = (c: PlanCommand): boolean => c.verb === 'stop'
  const write = (some: readonly PlanCommand[]): string[] =>
    some.length === 0
      ? []
      : [
          setParamsCommand(
            parameter,
            some.map((c) => c.value),
          ),
        ]
  if (timerFile === undefined) return { commands, text: write(commands).join(''), isGuarded: false }
  const removals = commands.filter(isRemoval)
  const others = commands.filter((c) => !isRemoval(c))
  const guarded = write(others).map((command) => whileTimerExists(timerFile, command))
  return { commands, text: [...write(removals), ...guarded].join('; '), isGuarded: others.length > 0 }
}

/**
 * Lines for the commands of a plan.
 *
 * @param timerFile  file of the timer that covers the rules; undefined: nothing is checked.
 * @param most       most commands of a line.
 */
export function ruleLines(
  parameter: string,
  commands: readonly PlanCommand[],
  timerFile: string | undefined,
  most = COMMANDS_MOST,
): CommandLine[] {
  const groups: PlanCommand[][] = []
  let characters = 0
  for (const c of commands) {
    const length = setParamCommand(parameter, c.value).length
    const last = groups.at(-1)
    characters += length
    if (!last || last.length >= most || characters > CHARACTERS_MOST) {
      groups.push([c])
      characters = length
    } else last.push(c)
  }
  return groups.map((group) => lineOf(parameter, group, timerFile))
}

/** Results of the commands of a line that was executed. */
export function resultsOf(
  parameter: string,
  { commands, isGuarded }: CommandLine,
  answer: Extract<Answer, { kind: 'done' | 'refused' }>,
): CommandResult[] {
  const { results, rest } = assignmentResults(
    parameter,
    commands.map((c) => c.value),
    answer.ran,
  )
  return commands.map((command, i) => {
    const { isWritten = false, message = '' } = results[i] ?? {}
    if (isWritten) return { command, fault: undefined }
    if (message !== '') return { command, fault: message }
    const isSilent = rest.length === 0
    const silent = isGuarded && command.verb !== 'stop' ? RULE_TIMER_GONE : `exit ${answer.ran.code}`
    return { command, fault: isSilent ? silent : rest.at(-1) }
  })
}

/** Exit code of the helper for a call that it refused, before it wrote anything. */
const HELPER_REFUSED = 2

/** True if the helper refused a line as a whole: an older one takes one rule per call. */
export const isRefusedWhole = ({ commands }: CommandLine, answer: Answer): boolean =>
  commands.length > 1 &&
  answer.kind === 'refused' &&
  answer.ran.code === HELPER_REFUSED &&
  answer.ran.stdout === '' &&
  /^sluice-rule: /m.test(answer.ran.stderr)
