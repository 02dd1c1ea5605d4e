/**
 * Permanent parameters: `set_param -P`, `conf_param` and their log.
 *
 * Values are stored unchecked and without output, and errors of applying them some seconds later are not reported (measured
 * A32, B11). Accepted on the MGS only.
 */
import { errnoNumber, errnoText } from '../../lustre/errno.ts'
import { done, exitWith, type ExecResult } from '../exec.ts'
import { isLoaded, type LctlHost, type ParamsLog } from './host.ts'

const notHere = (command: string): ExecResult =>
  exitWith(
    errnoNumber('ENODEV'),
    `No device found for name MGS: ${errnoText('EINVAL')}\nThis command must be run on the MGS.\n` +
      `error: ${command}: ${errnoText('ENODEV')}\n`,
  )

const logOf = (host: LctlHost): ParamsLog | undefined => (isLoaded(host) ? host.paramsLog : undefined)

const noValue = (command: string): ExecResult =>
  exitWith(errnoNumber('EINVAL'), `error: ${command}: ${errnoText('EINVAL')}\n`)

/** `lctl set_param -P [-d] NAME=VALUE ...`. */
export function setPermanently(host: LctlHost, args: readonly string[], isDelete: boolean): ExecResult {
  const log = logOf(host)
  if (!log) return notHere('set_param')
  for (const word of args) {
    const eq = word.indexOf('=')
    if (isDelete) log.delete(eq < 0 ? word : word.slice(0, eq))
    else if (eq > 0) log.set(word.slice(0, eq), word.slice(eq + 1))
    else return noValue('set_param')
  }
  return done()
}

/** `lctl conf_param FSNAME.sys.NAME=VALUE`, the predecessor of `-P`; only names under `sys` are supported. */
export function confParam(host: LctlHost, args: readonly string[]): ExecResult {
  const log = logOf(host)
  if (!log) return notHere('conf_param')
  const [, name, value] = /^[\w-]+\.sys\.([^=]+)=(.*)$/s.exec(args[0] ?? '') ?? []
  if (name === undefined || value === undefined || args.length > 1) {
    return exitWith(1, 'lctl conf_param: only FSNAME.sys.NAME=VALUE is known to this emulated node\n')
  }
  if (value === '') return noValue('conf_param')
  log.configure(name, value)
  return done()
}

/** `lctl --device MGS llog_print params`. */
export function printParamsLog(host: LctlHost): ExecResult {
  if (!isLoaded(host) || !host.paramsLog) return notHere('llog_print')
  return done(
    host.paramsLog
      .records()
      .map((r) => {
        const fields = [`index: ${r.index}`, 'event: set_param', 'device: general', `parameter: ${r.name}`]
        return `- { ${fields.join(', ')}, value: ${r.value} }\n`
      })
      .join(''),
  )
}
