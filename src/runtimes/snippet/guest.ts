/** The guest side of the `snippet` runtime: a thread that keeps a fresh VM ready and gives each program its own VM. */
import { workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'

import { systemClock } from '../../core/clock.ts'
import type { EngineModule } from './engine-module.ts'
import { OutputWriter } from './output-buffer.ts'
import { usualVm } from './thread-protocol.ts'
import type { FromThread, SnippetJob, ToThread, VmConfig } from './thread-protocol.ts'
import { Vm } from './vm.ts'

const { port, isForOne } = workerData as { readonly port: MessagePort; readonly isForOne: boolean }
const never = new Int32Array(new SharedArrayBuffer(4))
let module: EngineModule
let parked: Vm | undefined

port.on('message', (message: ToThread) => {
  if (message.type === 'job') void perform(message.job)
  else {
    module = message.module
    void park()
  }
})

async function park(): Promise<void> {
  parked = await Vm.create(module, usualVm)
  send({ type: 'ready' })
}

async function perform(job: SnippetJob): Promise<void> {
  const startedAt = systemClock.now()
  const vm = parked !== undefined && isSame(job, parked.config) ? parked : await Vm.create(module, job)
  parked = undefined
  const usage = () => ({ wallMs: systemClock.now() - startedAt, memoryPeakBytes: vm.memoryBytes })
  const output = new OutputWriter(job.output)
  const end = vm.run(job.source, {
    output,
    input: job.input,
    // The program could catch an error. So the thread blocks until the host ends it.
    onOutputFull(): never {
      send({ type: 'output-full', usage: usage() })
      for (;;) Atomics.wait(never, 0, 0)
    },
  })
  output.finish()
  send({ type: 'ended', end, usage: usage() })
  if (!isForOne) await park()
}

const isSame = (one: VmConfig, other: VmConfig): boolean =>
  one.memoryBytes === other.memoryBytes && one.clock === other.clock && one.randomness === other.randomness

function send(message: FromThread): void {
  port.postMessage(message)
}
