"""The page: try models, explore where they fail, watch runs, read the paper's tables beside ours.

    learnalg serve                              # http://127.0.0.1:8000

It answers this machine only, keeps nothing, and asks no other server for anything.
"""
