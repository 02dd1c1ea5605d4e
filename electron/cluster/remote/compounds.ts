/** Lines of the console that are more than simple commands, each with its maker. New makers add their shape to the list below. */
import { readTimerCommand, timerCommandText } from '../../enforce/expiry-match.ts'
import { shellQuote } from '#core/lustre/lctl.ts'
import { HELPER_PATH } from './sudo-scope.ts'
import type { CompoundShape } from './shapes.ts'
import { filterTail, readFiltered } from '../probes/job-filter.ts'
import { READ_SHELL_CPU } from '../probes/shell-cpu.ts'
import { readUnderTimer, underTimer } from '../../base/under-timer.ts'

/** Timers as electron/enforce makes, ends and lists them; root is reached in the way of each kind. */
const expiryTimer: CompoundShape = {
  name: 'a timer that stops rules',
  rewrite(line, { isRoot, sudo, lctl }) {
    const command = readTimerCommand(line)
    if (!command) return undefined
    const text = timerCommandText(command, { lctl, sudo: !isRoot })
    if (text === undefined || isRoot || command.kind === 'shell') return text
    if (command.kind === 'helper') return `sudo -n ${sudo.helper || HELPER_PATH}${text.slice('sluice-rule'.length)}`
    // Whoever is logged in may ask systemd what there is.
    return command.verb === 'list' ? text : `sudo -n /usr/bin/${text}`
  },
}

/** A reading that awk cuts down on the server; one that goes in parts is cut down as a whole. */
const filteredReading: CompoundShape = {
  name: 'a reading that is cut down on the server',
  rewrite(line, access, simple) {
    const filtered = readFiltered(line)
    const reading = filtered && simple(filtered.reading)
    if (!filtered || reading === undefined || !filtered.reading.startsWith('lctl get_param ')) return undefined
    return `${/; /.test(reading) ? `(${reading})` : reading} | ${filterTail(filtered.after)}`
  },
}

/** Lines without anything in them that differs. */
const constants: CompoundShape = {
  name: 'a line that never differs',
  rewrite: (line) => (line === READ_SHELL_CPU ? line : undefined),
}

/** `printf %s TEXT | sluice padll policies set`: the policy text is the operator's own. */
const padllPolicies: CompoundShape = {
  name: "the policies of PADLL's controller",
  rewrite(line) {
    const m = /^printf %s (.{1,120000}) \| sluice padll policies set(?: --epoch \d{1,15})?$/s.exec(line)
    const quoted = m?.[1]
    if (quoted === undefined || quoted.includes('\0')) return undefined
    const text = quoted.startsWith("'") ? quoted.slice(1, -1).replaceAll(`'\\''`, "'") : quoted
    return shellQuote(text) === quoted ? line : undefined
  },
}

/** `test -e FILE-OF-A-TIMER && lctl set_param ...`: whoever is logged in may look whether the file is there. */
const ruleUnderTimer: CompoundShape = {
  name: 'a rule that is written while its timer waits',
  rewrite(line, _access, simple) {
    const read = readUnderTimer(line)
    if (!read?.command.startsWith('lctl set_param ')) return undefined
    const command = simple(read.command)
    return command === undefined || command.includes('; ') ? undefined : underTimer(read.file, command)
  },
}

export const COMPOUND_SHAPES: readonly CompoundShape[] = [
  expiryTimer,
  ruleUnderTimer,
  filteredReading,
  constants,
  padllPolicies,
]
