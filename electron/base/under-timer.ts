/** Commands that a server carries out only while a timer waits there. */

/** A path as one of a waiting timer; whatever else may come in is none. */
const TIMER_FILE = /^(?:\/run\/systemd\/transient\/sluice-[A-Za-z0-9_-]{1,56}\.timer|\/proc\/[1-9]\d{0,9})$/

/**
 * A command that the server carries out only while the timer waits. What was on its way when its console was killed or lost its
 * connection would arrive after the timer has fired or was ended otherwise, and leave a rule that nothing stops.
 *
 * Where the unit file is not where systemd 230 and later keep it, systemd is asked: a look at a file costs a server nothing.
 */
export function underTimer(file: string, command: string): string {
  const [, unit] = /^\/run\/systemd\/transient\/(.*)$/.exec(file) ?? []
  const orAsk = unit === undefined ? '' : ` || systemctl is-active --quiet ${unit}`
  return `test -e ${file}${orAsk} && ${command}`
}

/** Reads what `underTimer` makes; undefined for any other text. */
export function readUnderTimer(text: string): { readonly file: string; readonly command: string } | undefined {
  const [, file, command] = /^test -e (\S+)(?: \|\| systemctl is-active --quiet \S+)? && (.*)$/s.exec(text) ?? []
  if (file === undefined || command === undefined || !TIMER_FILE.test(file)) return undefined
  return underTimer(file, command) === text ? { file, command } : undefined
}
