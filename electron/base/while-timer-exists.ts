/** Commands that the server runs only while a given timer exists there. */

/** Path of a waiting timer's file; nothing else is accepted. */
const TIMER_FILE = /^(?:\/run\/systemd\/transient\/sluice-[A-Za-z0-9_-]{1,56}\.timer|\/proc\/[1-9]\d{0,9})$/

/**
 * Command that the server runs only while the timer exists. A command still on its way when its console was killed or
 * lost its connection would otherwise arrive after the timer has fired or ended, and leave a rule that nothing stops.
 *
 * If the unit file is not at the path used by systemd 230 and later, systemctl is asked; testing for a file is cheaper.
 */
export function whileTimerExists(file: string, command: string): string {
  const [, unit] = /^\/run\/systemd\/transient\/(.*)$/.exec(file) ?? []
  const orAsk = unit === undefined ? '' : ` || systemctl is-active --quiet ${unit}`
  return `test -e ${file}${orAsk} && ${command}`
}

/** Parses the output of `whileTimerExists`; undefined for any other text. */
export function parseWhileTimerExists(text: string): { readonly file: string; readonly command: string } | undefined {
  const [, file, command] = /^test -e (\S+)(?: \|\| systemctl is-active --quiet \S+)? && (.*)$/s.exec(text) ?? []
  if (file === undefined || command === undefined || !TIMER_FILE.test(file)) return undefined
  return whileTimerExists(file, command) === text ? { file, command } : undefined
}
