/** Check of a rule line before a run; further faults are reported by the model's servers, as remarks of the run. */

/** Returns the fault of a rule line; empty if none is found. */
export function ruleFault(line: string): string {
  const text = line.trim()
  if (text === '') return 'Empty rule: remove it, or enter start NAME CONDITION rate=N'
  if (/^(lctl|set_param)\b|nrs_tbf_rule\s*=/.test(text))
    return 'Enter only the value after nrs_tbf_rule=, without quotes'
  if (!/^((reg|hp)\s+)?(start|change|stop)\s/.test(text)) return 'A rule starts with start, change or stop'
  return ''
}
