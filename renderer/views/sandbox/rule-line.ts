/** What can be told of a rule's line before it is run; the rest the model's servers say, as remarks of the run. */

/** Empty: nothing is wrong as far as can be told here. */
export function ruleFault(line: string): string {
  const text = line.trim()
  if (text === '') return 'Empty: remove it, or write start NAME CONDITION rate=N'
  if (/^(lctl|set_param)\b|nrs_tbf_rule\s*=/.test(text)) return 'Only what follows nrs_tbf_rule=, without quotes'
  if (!/^((reg|hp)\s+)?(start|change|stop)\s/.test(text)) return 'A rule begins with start, change or stop'
  return ''
}
