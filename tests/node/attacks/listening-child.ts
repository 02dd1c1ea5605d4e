/** A program that does listen, so that a look for listeners is known to find one. */
import { createServer } from 'node:net'

createServer().listen(0, '127.0.0.1', () => process.stdout.write('listening\n'))
