/** One booted machine: fully emulated, with two processors, and ssh on a port of loopback. Its disk forgets what it wrote. */
import { spawn } from 'node:child_process'
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'

import type { Image } from './images.ts'

/** An emulated machine boots in one to five minutes. */
const bootTries = 120
const bootPauseMs = 5000

export class BootedMachine implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #image: Image
  readonly #port: number

  private constructor(process: ChildProcess, image: Image, port: number) {
    this.#process = process
    this.#image = image
    this.#port = port
  }

  static async boot(image: Image, app: string): Promise<BootedMachine> {
    const port = await freePort()
    const drive = (file: string) => ['-drive', `file=${file},if=virtio,format=raw,snapshot=on,cache=unsafe`]
    const log = openSync(`${app}.console`, 'w')
    const process = spawn(
      'nice',
      [
        ...['-n', '5', 'qemu-system-x86_64', '-machine', 'q35', '-cpu', 'max', '-smp', '2', '-m', '3072'],
        ...['-accel', 'tcg,thread=multi', '-display', 'none', '-monitor', 'none', '-serial', 'stdio'],
        ...['-no-reboot', '-kernel', image.kernel, '-initrd', image.initrd],
        ...['-append', 'root=/dev/vda rw console=ttyS0 net.ifnames=0 mitigations=off'],
        ...[...drive(image.disk), ...drive(app)],
        ...['-netdev', `user,id=n,hostfwd=tcp:127.0.0.1:${port}-:22`, '-device', 'virtio-net-pci,netdev=n'],
        ...['-device', 'virtio-rng-pci'],
      ],
      { stdio: ['ignore', log, 'inherit'] },
    )
    closeSync(log)
    const machine = new BootedMachine(process, image, port)
    try {
      await machine.#untilUp()
      return machine
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
  }

  /** What a shell command of this user prints, also if it fails. */
  async ask(user: string, command: string): Promise<string> {
    const shell = this.#ssh(user, [command], ['ignore', 'pipe', 'inherit'])
    const [output] = await Promise.all([text(shell.stdout as NodeJS.ReadableStream), once(shell, 'exit')])
    return output
  }

  /** A shell for a person. */
  async shell(user: string): Promise<void> {
    await once(this.#ssh(user, [], 'inherit'), 'exit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  async #untilUp(): Promise<void> {
    for (let tries = 0; tries < bootTries; tries++) {
      if (this.#process.exitCode !== null) throw new Error('qemu-system-x86_64 has ended.')
      if ((await this.ask('root', 'systemctl is-system-running --wait')).trim() !== '') return
      await setTimeout(bootPauseMs)
    }
    throw new Error('The machine did not answer to ssh.')
  }

  #ssh(user: string, command: readonly string[], stdio: StdioOptions): ChildProcess {
    const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=QUIET']
    const words = [...options, 'ConnectTimeout=60'].flatMap((option) => ['-o', option])
    return spawn(
      'ssh',
      ['-i', this.#image.key, '-p', String(this.#port), ...words, `${user}@127.0.0.1`, ...command],
      { stdio },
    )
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
