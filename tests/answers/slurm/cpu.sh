#!/bin/bash
# dsgui run 20260131-235959-0a1b, submitted with: sbatch --parsable /runs/r/job.sh
#SBATCH --job-name=t5_small_3
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --output=/runs/r/slurm.out
#SBATCH --open-mode=append
#SBATCH --chdir=/srv

export PATH=/env/bin:"$PATH"
export PYTHONUNBUFFERED=1
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export DSGUI_RUN_ID=20260131-235959-0a1b

nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
first=$(printf "%s\n" $nodes | head -n 1)
hosts=/runs/r/hostfile.$SLURM_JOB_ID
printf "%s slots=2\n" $nodes > "$hosts"

# srun does not take it over by itself.
[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
# One task a node. What is printed and the progress bars come as one stream, in their order.
exec srun --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --export=ALL \
  bash -c 'exec 2>&1; python=$1; module=$2; shift 2; exec "$python" -m "$module" --node_rank="$SLURM_NODEID" "$@"' launch \
  /env/bin/python deepspeed.launcher.runner --hostfile="$hosts" --no_ssh --master_addr="$first" --master_port=29501 /srv/train.py --lr 1e-4 --note 'two words' --deepspeed /runs/r/ds_config.json
