/** Command line of the browser shell. */
import { Command, InvalidArgumentError } from 'commander'

/** Parsed command line. */
export interface Flags {
  /** undefined: the usual port, or a free one if that is taken. */
  readonly port?: number
  readonly history?: string
  readonly scenario?: string
  /** Set to serve /metrics. */
  readonly metrics?: boolean
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('A number from 0 to 65535.')
  return Number(text)
}

/**
 * Parses flags, for example process.argv.slice(2). On --help, or on an unknown argument, commander prints and exits with 0 or 2.
 */
export function readFlags(args: readonly string[]): Flags {
  const command = new Command('sluice')
    .description('Serves the console on 127.0.0.1 and prints the address to open in a browser.')
    .option('--port <n>', 'port, 0 = any free one (default: 7423, or a free one when it is taken)', portNumber)
    .option('--history <file>', 'history file (default: in the data folder)')
    .option('--scenario <file>', 'scenario for the built-in emulator')
    .option('--metrics', 'serve /metrics as OpenMetrics text, to clients that send the printed token')
    .allowExcessArguments(false)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  return command.parse(args, { from: 'user' }).opts<Flags>()
}
